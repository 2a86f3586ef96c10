"""The detector network and its ONNX form.

Input: float32 RGB in [0, 1], NCHW, height and width multiples of 16.
Output of the ONNX file: [1, 6, N] with rows cx, cy, w, h (pixels of the input, counted from the
first pixel's corner, so that its centre is (0.5, 0.5)), score in [0, 1], angle in radians (y down,
so clockwise on screen is positive). This is the raw layout of oriented-box YOLO exports with one
class.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

STRIDE = 4
INPUT_MULTIPLE = 16
# Offset, log size and doubled-angle channels of the regression map.
OFFSET, SIZE, ANGLE = slice(0, 2), slice(2, 4), slice(4, 6)
# Sizes are regressed as logarithms relative to this many pixels.
REFERENCE_PX = 16.0


def conv(channels_in, channels_out, stride=1, dilation=1):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, stride, dilation, dilation, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
    )


class Residual(nn.Module):
    def __init__(self, channels, dilation=1):
        super().__init__()
        self.body = nn.Sequential(
            conv(channels, channels, dilation=dilation),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return F.relu(x + self.body(x))


class Network(nn.Module):
    """Strides 2, 4, 8, 16, joined back to stride 4; one heat map and six regression maps."""

    def __init__(self, widths=(12, 24, 40, 64), head=32):
        super().__init__()
        a, b, c, d = widths
        self.to_2 = conv(3, a, 2)
        self.to_4 = nn.Sequential(conv(a, b, 2), Residual(b))
        self.to_8 = nn.Sequential(conv(b, c, 2), Residual(c))
        self.to_16 = nn.Sequential(conv(c, d, 2), Residual(d, dilation=2))
        self.from_16 = nn.Conv2d(d, head, 1)
        self.from_8 = nn.Conv2d(c, head, 1)
        self.from_4 = nn.Conv2d(b, head, 1)
        self.join_8 = conv(head, head)
        self.join_4 = conv(head, head)
        self.heat = nn.Sequential(conv(head, head), nn.Conv2d(head, 1, 1))
        self.boxes = nn.Sequential(conv(head, head), nn.Conv2d(head, 6, 1))
        # A rare class: start from a low score everywhere, else the first steps are spent on it.
        nn.init.constant_(self.heat[-1].bias, -4.0)

    def forward(self, x):
        at_4 = self.to_4(self.to_2(x))
        at_8 = self.to_8(at_4)
        at_16 = self.to_16(at_8)
        top = F.interpolate(self.from_16(at_16), scale_factor=2.0, mode="nearest")
        joined_8 = self.join_8(self.from_8(at_8) + top)
        joined_8 = F.interpolate(joined_8, scale_factor=2.0, mode="nearest")
        joined_4 = self.join_4(self.from_4(at_4) + joined_8)
        return self.heat(joined_4), self.boxes(joined_4)


class RawLayout(nn.Module):
    """The network followed by peak picking and decoding into [1, 6, N]."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, images):
        heat, boxes = self.network(images)
        score = torch.sigmoid(heat)
        peak = F.max_pool2d(score, 3, 1, 1)
        score = score * (score >= peak).to(score.dtype)
        # Cell indices without Range or NonZero: a running sum of ones along each axis.
        ones = torch.ones_like(score)
        column = torch.cumsum(ones, 3) - 1.0
        row = torch.cumsum(ones, 2) - 1.0
        centre = torch.cat([column, row], 1) + boxes[:, OFFSET]
        centre = (centre + 0.5) * STRIDE
        size = torch.exp(boxes[:, SIZE]) * REFERENCE_PX
        cos2, sin2 = boxes[:, 4:5], boxes[:, 5:6]
        # Half-angle formula: ONNX has no two-argument arctangent.
        radius = torch.sqrt(cos2 * cos2 + sin2 * sin2)
        angle = torch.atan(sin2 / (radius + cos2 + 1e-6))
        return torch.cat([centre, size, score, angle], 1).flatten(2)


def text_entry(field, text):
    data = text.encode()
    return bytes([field << 3 | 2]) + varint(len(data)) + data


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def export(network, path, metadata):
    """Writes the ONNX file. `metadata` goes to metadata_props: repeated field 14 of ModelProto,
    which may simply be appended, since protobuf messages concatenate."""
    model = RawLayout(network).eval()
    torch.onnx.export(
        model,
        torch.zeros(1, 3, 256, 320),
        path,
        input_names=["images"],
        output_names=["output0"],
        dynamic_axes={"images": {2: "height", 3: "width"}, "output0": {2: "anchors"}},
        opset_version=14,
    )
    with open(path, "ab") as file:
        for key, value in metadata.items():
            entry = text_entry(1, key) + text_entry(2, value)
            file.write(bytes([14 << 3 | 2]) + varint(len(entry)) + entry)
