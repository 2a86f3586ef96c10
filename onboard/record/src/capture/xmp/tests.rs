//! Packets as vendors write them, and broken ones.

use super::*;

fn read(packet: &str) -> (Xmp, Vec<Remark>) {
    let mut xmp = Xmp::default();
    let mut remarks = Vec::new();
    xmp.add_packet(packet.as_bytes(), &mut remarks);
    (xmp, remarks)
}

fn wrap(inner: &str) -> String {
    format!(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\
         <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">{inner}</rdf:RDF>\
         </x:xmpmeta>   \n<?xpacket end=\"w\"?>"
    )
}

fn text(xmp: &Xmp, namespace: Namespace, name: &str) -> Option<String> {
    xmp.text(namespace, &[name])
        .map(|(text, _)| text.to_owned())
}

#[test]
fn attributes_and_elements_say_the_same_with_any_prefix() {
    let attributes = wrap(
        "<rdf:Description rdf:about=\"DJI Meta Data\" \
         xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\" \
         drone-dji:GimbalPitchDegree=\"-89.90\" drone-dji:RtkFlag='50'/>",
    );
    let elements = wrap(
        "<rdf:Description xmlns:q=\"http://www.dji.com/drone-dji/1.0/\">\
         <q:GimbalPitchDegree>-89.90</q:GimbalPitchDegree><q:RtkFlag>50</q:RtkFlag>\
         </rdf:Description>",
    );
    for packet in [attributes, elements] {
        let (xmp, remarks) = read(&packet);
        assert_eq!(remarks, [], "{packet}");
        assert_eq!(
            text(&xmp, Namespace::Dji, "GimbalPitchDegree").as_deref(),
            Some("-89.90")
        );
        let (flag, source) = xmp.number(Namespace::Dji, &["RtkFlag"]).unwrap();
        assert!(flag == 50.0 && source.key.ends_with(":RtkFlag"));
    }
}

#[test]
fn structures_lists_and_escapes() {
    let (xmp, remarks) = read(&wrap(
        "<rdf:Description xmlns:drone-skydio=\"https://www.skydio.com/drone-skydio/1.0/\" \
         xmlns:Camera=\"http://pix4d.com/camera/1.0\" Camera:Note=\"a &lt;&amp;&#x42; b\">\
         <drone-skydio:CameraOrientationNED rdf:parseType=\"Resource\">\
           <drone-skydio:Pitch>-59.7</drone-skydio:Pitch>\
           <drone-skydio:Yaw> 0.1 </drone-skydio:Yaw>\
         </drone-skydio:CameraOrientationNED>\
         <Camera:BandName><rdf:Seq><rdf:li>Red</rdf:li><rdf:li>Green</rdf:li></rdf:Seq>\
         </Camera:BandName><Camera:Text>x &gt; &#65;</Camera:Text>\
         <drone-skydio:Quat><rdf:Description drone-skydio:W=\"1\"/></drone-skydio:Quat>\
         </rdf:Description>",
    ));
    assert_eq!(remarks, []);
    let check = |namespace, name, expected| {
        assert_eq!(
            text(&xmp, namespace, name).as_deref(),
            Some(expected),
            "{name}"
        );
    };
    check(Namespace::Skydio, "CameraOrientationNED/Pitch", "-59.7");
    check(Namespace::Skydio, "CameraOrientationNED/Yaw", "0.1");
    check(Namespace::Skydio, "Quat/W", "1");
    check(Namespace::Camera, "BandName", "Red,Green");
    check(Namespace::Camera, "Note", "a <&B b");
    check(Namespace::Camera, "Text", "x > A");
}

#[test]
fn an_unknown_address_under_a_known_prefix_is_read_and_said() {
    let (xmp, remarks) = read(&wrap(
        "<rdf:Description xmlns:drone-dji=\"http://example.org/x\" drone-dji:RtkFlag=\"16\"/>",
    ));
    assert_eq!(text(&xmp, Namespace::Dji, "RtkFlag").as_deref(), Some("16"));
    assert!(matches!(
        &remarks[..],
        [Remark::XmpUnknownNamespace { prefix, .. }] if prefix == "drone-dji"
    ));
    // And the other way round: a foreign namespace that borrowed nothing stays foreign.
    let (xmp, remarks) = read(&wrap(
        "<rdf:Description xmlns:my=\"http://example.org/x\" my:RtkFlag=\"16\"/>",
    ));
    assert_eq!(text(&xmp, Namespace::Dji, "RtkFlag"), None);
    assert_eq!(remarks, []);
}

#[test]
fn broken_packets_are_read_as_far_as_they_can_be() {
    let body = "xmlns:drone-dji=\"http://www.dji.com/drone-dji/1.0/\" \
                drone-dji:RelativeAltitude=\"+37.70\" drone-dji:GimbalPitchDegree=\"-60\"";
    let cases = [
        // The namespace declared twice, as the XT S does.
        wrap(&format!(
            "<rdf:Description xmlns:drone-dji=\"http://www.dji.com\" {body}/>"
        )),
        // End tag of another element.
        wrap(&format!("<rdf:Description {body}></rdf:Descriptio>")),
        // Cut in the middle.
        format!("<x:xmpmeta><rdf:RDF><rdf:Description {body} drone-dji:X=\"1"),
        // A bare ampersand and an unquoted attribute before.
        wrap(&format!(
            "<rdf:Description bad=5 {body} drone-dji:Y=\"a & b\"/>"
        )),
        // Not XML at all.
        format!("garbage {body} > < & \u{fffd}"),
    ];
    for packet in cases {
        let (xmp, remarks) = read(&packet);
        if packet.contains('<') {
            assert!(
                remarks
                    .iter()
                    .any(|remark| matches!(remark, Remark::XmpMalformed { .. })),
                "{packet}: {remarks:?}"
            );
            assert_eq!(
                text(&xmp, Namespace::Dji, "RelativeAltitude").as_deref(),
                Some("+37.70"),
                "{packet}"
            );
        }
    }
}

#[test]
fn hostile_packets_stay_small() {
    let deep = "<a:b xmlns:a=\"x\">".repeat(100_000);
    let (_, remarks) = read(&wrap(&deep));
    assert!(matches!(&remarks[..], [Remark::XmpMalformed { .. }]));
    let mut many = String::from("<rdf:Description xmlns:Camera=\"http://pix4d.com/camera/1.0\">");
    for i in 0..20_000 {
        many.push_str(&format!("<Camera:A{i}>1</Camera:A{i}>"));
    }
    let (xmp, _) = read(&wrap(&(many + "</rdf:Description>")));
    assert_eq!(xmp.properties.len(), MAX_PROPERTIES);
    let long = "9".repeat(1 << 20);
    let (xmp, _) = read(&wrap(&format!(
        "<rdf:Description xmlns:Camera=\"http://pix4d.com/camera/1.0\" Camera:A=\"{long}\"/>"
    )));
    assert_eq!(
        text(&xmp, Namespace::Camera, "A").unwrap().len(),
        MAX_VALUE_BYTES
    );
}
