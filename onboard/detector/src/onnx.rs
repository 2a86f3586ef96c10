//! What an ONNX file says about itself, read without any engine: tensors, metadata, operators.
//!
//! ONNX is Protocol Buffers (onnx.proto3); only the fields named here are looked at, everything
//! else is skipped. Field numbers are those of onnx.proto3.

use crate::error::DetectorError;
use std::collections::{BTreeMap, BTreeSet};

/// Type of a tensor's elements, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementType {
    /// 32-bit float.
    Float32,
    /// 16-bit IEEE float.
    Float16,
    /// 64-bit integer.
    Int64,
    /// 32-bit integer.
    Int32,
    /// Another one, with its number in onnx.proto3's `DataType`.
    Other(u64),
}

impl ElementType {
    fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Float32,
            6 => Self::Int32,
            7 => Self::Int64,
            10 => Self::Float16,
            other => Self::Other(other),
        }
    }
}

/// A model's input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorInfo {
    /// Its name.
    pub(crate) name: String,
    /// Type of its elements.
    pub(crate) element: ElementType,
    /// Its size per axis, `None` where symbolic; `None` altogether when the file does not say.
    pub(crate) shape: Option<Vec<Option<usize>>>,
}

/// The parts of an ONNX file that decide whether and how we can use it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnnxFile {
    /// Version of the default operator set.
    pub(crate) opset: Option<u64>,
    /// `metadata_props`.
    pub(crate) metadata: BTreeMap<String, String>,
    /// Inputs that are no weights.
    pub(crate) inputs: Vec<TensorInfo>,
    /// Outputs.
    pub(crate) outputs: Vec<TensorInfo>,
    /// (operator, domain) outside the standard domains.
    pub(crate) custom_operators: BTreeSet<(String, String)>,
    /// Files beside the model that hold weights.
    pub(crate) external_files: BTreeSet<String>,
}

/// Domains that stock ONNX Runtime brings itself.
const STANDARD_DOMAINS: [&str; 5] = [
    "",
    "ai.onnx",
    "ai.onnx.ml",
    "com.microsoft",
    "com.microsoft.nchwc",
];

/// Graphs inside control-flow nodes nest; deeper than this nobody goes.
const MAX_DEPTH: usize = 16;

impl OnnxFile {
    /// Reads the header of a model.
    ///
    /// # Errors
    /// [`DetectorError::NotOnnx`] when the bytes are no ONNX model or hold no graph.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, DetectorError> {
        let refuse = |found: &str| DetectorError::NotOnnx {
            found: found.to_owned(),
        };
        if bytes.starts_with(b"version https://git-lfs") {
            return Err(refuse("a Git LFS pointer; fetch the file itself"));
        }
        if bytes.starts_with(b"PK\x03\x04") {
            return Err(refuse("a zip archive (a PyTorch .pt?); export it to ONNX"));
        }
        let mut file = Self::default();
        let mut has_graph = false;
        for field in Fields::new(bytes) {
            match field.ok_or_else(|| refuse("damaged or no Protocol Buffers"))? {
                (7, Wire::Bytes(graph)) => {
                    has_graph = true;
                    file.read_graph(graph, 0)
                        .ok_or_else(|| refuse("its graph is damaged"))?;
                }
                (8, Wire::Bytes(opset)) => file
                    .read_opset(opset)
                    .ok_or_else(|| refuse("its opset is damaged"))?,
                (14, Wire::Bytes(entry)) => {
                    let (key, value) =
                        key_value(entry).ok_or_else(|| refuse("its metadata is damaged"))?;
                    file.metadata.insert(key, value);
                }
                _ => {}
            }
        }
        if has_graph {
            Ok(file)
        } else {
            Err(refuse("there is no graph in it"))
        }
    }

    fn read_opset(&mut self, bytes: &[u8]) -> Option<()> {
        let (mut domain, mut version) = (String::new(), 0);
        for field in Fields::new(bytes) {
            match field? {
                (1, Wire::Bytes(text)) => domain = text_of(text)?,
                (2, Wire::Number(number)) => version = number,
                _ => {}
            }
        }
        if domain.is_empty() || domain == "ai.onnx" {
            self.opset = Some(version);
        }
        Some(())
    }

    fn read_graph(&mut self, bytes: &[u8], depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut weights = BTreeSet::new();
        let mut inputs = Vec::new();
        for field in Fields::new(bytes) {
            match field? {
                (1, Wire::Bytes(node)) => self.read_node(node, depth)?,
                (5, Wire::Bytes(tensor)) => {
                    weights.insert(self.read_tensor(tensor)?);
                }
                (11, Wire::Bytes(info)) => inputs.push(tensor_info(info)?),
                (12, Wire::Bytes(info)) if depth == 0 => self.outputs.push(tensor_info(info)?),
                _ => {}
            }
        }
        if depth == 0 {
            // Before IR version 4 weights were listed among the inputs.
            inputs.retain(|input| !weights.contains(&input.name));
            self.inputs = inputs;
        }
        Some(())
    }

    fn read_node(&mut self, bytes: &[u8], depth: usize) -> Option<()> {
        let (mut operator, mut domain) = (String::new(), String::new());
        for field in Fields::new(bytes) {
            match field? {
                (4, Wire::Bytes(text)) => operator = text_of(text)?,
                (7, Wire::Bytes(text)) => domain = text_of(text)?,
                (5, Wire::Bytes(attribute)) => {
                    for field in Fields::new(attribute) {
                        match field? {
                            (5, Wire::Bytes(tensor)) => {
                                self.read_tensor(tensor)?;
                            }
                            (6 | 11, Wire::Bytes(graph)) => self.read_graph(graph, depth + 1)?,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        if !STANDARD_DOMAINS.contains(&domain.as_str()) {
            self.custom_operators.insert((operator, domain));
        }
        Some(())
    }

    /// Notes where a weight lives and returns its name.
    fn read_tensor(&mut self, bytes: &[u8]) -> Option<String> {
        let (mut name, mut location, mut external) = (String::new(), None, false);
        for field in Fields::new(bytes) {
            match field? {
                (8, Wire::Bytes(text)) => name = text_of(text)?,
                (13, Wire::Bytes(entry)) => {
                    let (key, value) = key_value(entry)?;
                    if key == "location" {
                        location = Some(value);
                    }
                }
                (14, Wire::Number(number)) => external = number == 1,
                _ => {}
            }
        }
        if let (true, Some(location)) = (external, location) {
            self.external_files.insert(location);
        }
        Some(name)
    }
}

fn tensor_info(bytes: &[u8]) -> Option<TensorInfo> {
    let mut info = TensorInfo {
        name: String::new(),
        element: ElementType::Other(0),
        shape: None,
    };
    for field in Fields::new(bytes) {
        match field? {
            (1, Wire::Bytes(text)) => info.name = text_of(text)?,
            (2, Wire::Bytes(kind)) => {
                for field in Fields::new(kind) {
                    if let (1, Wire::Bytes(tensor)) = field? {
                        read_tensor_type(tensor, &mut info)?;
                    }
                }
            }
            _ => {}
        }
    }
    Some(info)
}

fn read_tensor_type(bytes: &[u8], info: &mut TensorInfo) -> Option<()> {
    for field in Fields::new(bytes) {
        match field? {
            (1, Wire::Number(number)) => info.element = ElementType::from_number(number),
            (2, Wire::Bytes(shape)) => {
                let mut axes = Vec::new();
                for field in Fields::new(shape) {
                    if let (1, Wire::Bytes(axis)) = field? {
                        axes.push(axis_size(axis)?);
                    }
                }
                info.shape = Some(axes);
            }
            _ => {}
        }
    }
    Some(())
}

/// The inner `None` is a symbolic size.
fn axis_size(bytes: &[u8]) -> Option<Option<usize>> {
    let mut size = None;
    for field in Fields::new(bytes) {
        if let (1, Wire::Number(number)) = field? {
            // Some exporters write -1 or 0 for "any".
            size = usize::try_from(number.cast_signed())
                .ok()
                .filter(|&n| n > 0);
        }
    }
    Some(size)
}

fn key_value(bytes: &[u8]) -> Option<(String, String)> {
    let (mut key, mut value) = (String::new(), String::new());
    for field in Fields::new(bytes) {
        match field? {
            (1, Wire::Bytes(text)) => key = text_of(text)?,
            (2, Wire::Bytes(text)) => value = text_of(text)?,
            _ => {}
        }
    }
    Some((key, value))
}

fn text_of(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// The fields of one message; an item of `None` means that the bytes are damaged, and ends it.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let count = usize::try_from(count).ok()?;
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn field(&mut self) -> Option<(u64, Wire<'a>)> {
        let tag = self.varint()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.varint()?),
            1 => self.take(8).map(|_| Wire::Fixed)?,
            2 => {
                let length = self.varint()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed)?,
            _ => return None,
        };
        Some((tag >> 3, wire))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Wire<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field)
    }
}
