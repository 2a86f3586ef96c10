use super::*;
use std::fs;

/// A line of detections as the onboard program writes it: boxes are x, y, long, short, degrees and
/// score.
fn line(photo: &str, boxes: &[[f64; 6]]) -> String {
    let detections: Vec<String> = boxes
        .iter()
        .map(|[x, y, long, short, degrees, score]| {
            // The hull of a box along the axes is the box.
            let (width, height) = if *degrees == 0.0 {
                (*long, *short)
            } else {
                (*short, *long)
            };
            format!(
                r#"{{"oriented_box":{{"centre_x_px":{x},"centre_y_px":{y},"long_side_px":{long},"short_side_px":{short},"angle_deg":{degrees}}},"horizontal_box":{{"x1_px":{},"y1_px":{},"x2_px":{},"y2_px":{}}},"class":"vehicle","score":{score},"truncated":false}}"#,
                x - width / 2.0,
                y - height / 2.0,
                x + width / 2.0,
                y + height / 2.0,
            )
        })
        .collect();
    format!(
        r#"{{"schema":"detections/1","photo":"{photo}","model_sha256":"ab","engine":{{"name":"rten","version":"1","provider":"cpu"}},"width_px":400,"height_px":200,"exif_orientation":1,"detections":[{}],"plan":{{"basis":"given","levels":[],"expected_car_px":null,"skipped_share":0.0}},"tiles":1,"warnings":[]}}"#,
        detections.join(",")
    )
}

struct Bench {
    home: tempfile::TempDir,
}

impl Bench {
    fn new(lines: &[String]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("found.jsonl"), lines.join("\n")).unwrap();
        Self { home }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn paired(&self, truth: &Path, ignored: &[&str]) -> anyhow::Result<Paired> {
        let lines = read_lines(&self.home.path().join("found.jsonl"))?;
        let ignored: Vec<String> = ignored.iter().map(|&class| class.to_owned()).collect();
        pair(&lines, truth::read(truth, None, &ignored)?)
    }
}

/// Two vehicles, one found well, one not; one false alarm between them in score.
fn two_vehicles() -> Bench {
    Bench::new(&[line(
        "flight/a.jpg",
        &[
            [50.0, 50.0, 40.0, 20.0, 0.0, 0.9],
            [300.0, 150.0, 40.0, 20.0, 0.0, 0.8],
            [150.0, 50.0, 40.0, 20.0, -90.0, 0.7],
        ],
    )])
}

/// Hit, miss, hit: precision 1 up to half the recall, then 2/3.
const EXPECTED_AP50: f64 = 0.5 + 0.5 * 2.0 / 3.0;

fn assert_two_vehicles(paired: &Paired, height: Option<f64>) {
    assert_eq!(paired.photos.len(), 1);
    assert_eq!(paired.photos[0].height_m, height);
    let found = evaluate(&paired.photos);
    assert_eq!(found.vehicles, 2);
    for ap50 in [found.oriented.unwrap().ap50, found.horizontal.ap50] {
        assert!((ap50 - EXPECTED_AP50).abs() < 1e-9, "{ap50}");
    }
    assert!(found.angle_errors.unwrap().median_deg < 1e-6);
}

#[test]
fn every_form_of_truth_gives_the_same_figures() {
    let bench = two_vehicles();
    let dota = bench.put(
        "dota/a.txt",
        "imagesource:GoogleEarth\ngsd:0.15\n30 40 70 40 70 60 30 60 small-vehicle 0\n\
         140 30 160 30 160 70 140 70 small-vehicle 0\n280 140 320 140 320 160 280 160 plane 0\n",
    );
    let pixels = bench.put(
        "pixels/a.txt",
        "0 30 40 70 40 70 60 30 60\n0 140 30 160 30 160 70 140 70\n",
    );
    let shares = bench.put(
        "shares/a.txt",
        "0 0.075 0.2 0.175 0.2 0.175 0.3 0.075 0.3\n0 0.35 0.15 0.4 0.15 0.4 0.35 0.35 0.35\n",
    );
    let coco = bench.put(
        "coco.json",
        r#"{"images":[{"id":7,"file_name":"a.png"}],"categories":[{"id":2,"name":"car"},{"id":3,"name":"ship"}],
        "annotations":[
        {"image_id":7,"category_id":2,"bbox":[30,40,40,20],"segmentation":[[30,40,70,40,70,60,30,60]]},
        {"image_id":7,"category_id":2,"bbox":[140,30,20,40],"segmentation":[[140,30,160,30,160,70,140,70]]},
        {"image_id":7,"category_id":3,"bbox":[280,140,40,20]}]}"#,
    );
    for folder in [dota, pixels, shares] {
        let folder = folder.parent().unwrap().to_owned();
        assert_two_vehicles(&bench.paired(&folder, &[]).unwrap(), None);
    }
    assert_two_vehicles(&bench.paired(&coco, &[]).unwrap(), None);
    let simulator = bench.put(
        "truth.json",
        r#"{"schema":"truth/1","photos":[{"file":"a.jpg","center_in_enu_m":[0,0,60],"pitch_deg":-45}],
        "views":[
        {"photo":"a.jpg","visible_fraction":1.0,"oriented_box":[50,50,40,20,0],"horizontal_box":[30,40,70,60]},
        {"photo":"a.jpg","visible_fraction":0.9,"oriented_box":[150,50,40,20,90],"horizontal_box":[140,30,160,70]},
        {"photo":"a.jpg","visible_fraction":0.001,"oriented_box":[350,50,40,20,90],"horizontal_box":[340,30,360,70]},
        {"photo":"a.jpg","visible_fraction":0.0,"oriented_box":[350,50,40,20,90],"horizontal_box":null}]}"#,
    );
    assert_two_vehicles(&bench.paired(&simulator, &[]).unwrap(), Some(60.0));
}

#[test]
fn ignored_classes_and_difficult_ones_count_neither_way() {
    let bench = two_vehicles();
    let labels = "30 40 70 40 70 60 30 60 small-vehicle 0\n\
                  140 30 160 30 160 70 140 70 small-vehicle 1\n\
                  280 140 320 140 320 160 280 160 plane 0\n";
    let folder = bench.put("dota/a.txt", labels).parent().unwrap().to_owned();
    let found = evaluate(&bench.paired(&folder, &["plane"]).unwrap().photos);
    assert_eq!(found.vehicles, 1);
    assert!((found.oriented.unwrap().ap50 - 1.0).abs() < 1e-9);
}

#[test]
fn photos_without_a_partner_are_named() {
    let bench = Bench::new(&[line("a.jpg", &[]), line("b.jpg", &[])]);
    bench.put("labels/b.txt", "");
    let folder = bench.put("labels/c.txt", "").parent().unwrap().to_owned();
    let paired = bench.paired(&folder, &[]).unwrap();
    assert_eq!(paired.photos.len(), 1);
    assert_eq!(paired.not_searched, ["c.txt"]);
    assert_eq!(paired.without_truth, ["a.jpg"]);
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let bench = Bench::new(&[line("x/a.jpg", &[]), line("y/a.jpg", &[])]);
    let refused = |name: &str, text: &str, expected: &str| {
        let path = bench.put(name, text);
        let path = if name.ends_with(".txt") {
            path.parent().unwrap().to_owned()
        } else {
            path
        };
        let error = bench.paired(&path, &[]).err().unwrap().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    };
    refused("one/a.txt", "1 2 3", "line 1: 3 words");
    refused("two/a.txt", "0 1 2 3 4 5 6 x 8", "eight numbers");
    refused("three/a.txt", "", "x/a.jpg or y/a.jpg");
    refused("four.json", "{}", "neither");
    refused(
        "five.json",
        r#"{"schema":"truth/2","photos":[],"views":[]}"#,
        "truth/2; this version reads truth/1",
    );
    let mixed = Bench::new(&[
        line("a.jpg", &[]),
        line("b.jpg", &[]).replace("\"ab\"", "\"cd\""),
    ]);
    let error = read_lines(&mixed.home.path().join("found.jsonl")).unwrap_err();
    assert!(error.to_string().contains("two models"), "{error}");
}

#[test]
fn the_page_holds_the_curves_and_never_replaces_another_file() {
    let bench = two_vehicles();
    let labels = "0 30 40 70 40 70 60 30 60\n0 140 30 160 30 160 70 140 70\n";
    let truth = bench
        .put("labels/a.txt", labels)
        .parent()
        .unwrap()
        .to_owned();
    let args = |page: PathBuf| EvalArgs {
        detections: bench.home.path().join("found.jsonl"),
        truth: vec![truth.clone()],
        truth_format: None,
        ignore_class: Vec::new(),
        page: Some(page),
        json: true,
    };
    let page = bench.home.path().join("page.html");
    for _ in 0..2 {
        run(&args(page.clone())).unwrap();
    }
    let text = fs::read_to_string(&page).unwrap();
    // From full precision at half the recall down to 2/3 at all of it.
    assert!(
        text.contains("M180.0 0.0L180.0 180.0L360.0 120.0"),
        "{text}"
    );
    assert!(text.contains("0.833"), "{text}");
    let other = bench.put("other.html", "mine");
    let error = run(&args(other.clone())).unwrap_err().to_string();
    assert!(error.contains("other.html"), "{error}");
    assert_eq!(fs::read_to_string(other).unwrap(), "mine");
}
