//! Bags made by Python's `bagit`, sealed here, then damaged in every way.

use ed25519_dalek::{Signer, SigningKey};
use record::bundle::{Problem, Seal, SealSignature, VerifiedBundle};
use record::schema::SealedSchema;
use record::{BundleError, VerifyReport, open_bundle};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python that can `import bagit`.
fn python() -> Command {
    let program = std::env::var_os("OVERLOOK_PYTHON").unwrap_or_else(|| "python3".into());
    let works = Command::new(&program)
        .args(["-c", "import bagit"])
        .output()
        .is_ok_and(|output| output.status.success());
    assert!(
        works,
        "{} cannot import bagit: `make setup` installs it (OVERLOOK_PYTHON names another Python)",
        program.display()
    );
    Command::new(program)
}

fn run_python(script: &str, arguments: &[&Path]) {
    let output = python()
        .args(["-c", script])
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

struct Bag {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Bag {
    /// Bags three photos and an oddly named file with the given algorithms.
    fn made_by_python(algorithms: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("scene");
        fs::create_dir_all(root.join("photos/sub")).unwrap();
        for (name, bytes) in [
            ("photos/DJI_0001.JPG", "one"),
            ("photos/DJI 0002 ü.JPG", "two"),
            ("photos/sub/100%.JPG", "three"),
            ("odd\rname\n.txt", "x"),
            ("empty", ""),
        ] {
            fs::write(root.join(name), bytes).unwrap();
        }
        let script = format!(
            "import bagit, sys; bagit.make_bag(sys.argv[1], \
             {{'Contact-Name': 'A'}}, checksums={algorithms})"
        );
        run_python(&script, &[&root]);
        Self {
            _folder: folder,
            root,
        }
    }

    fn sealed() -> Self {
        let bag = Self::made_by_python("['sha256']");
        bag.write_seal(&bag.seal());
        bag
    }

    /// The seal that fits the bag as it is now.
    fn seal(&self) -> Seal {
        let root = Sha256::digest(fs::read(self.root.join("tagmanifest-sha256.txt")).unwrap());
        Seal {
            schema: SealedSchema,
            root_sha256: root.iter().map(|byte| format!("{byte:02x}")).collect(),
            sealed_utc: "2026-06-01T10:00:00Z".parse().unwrap(),
            agent_version: "0.1.0".to_owned(),
            plan_sha256: Some("0".repeat(64)),
            n_planned: 5,
            n_confirmed: 3,
            n_failed: 2,
            n_strays: 0,
            complete: false,
            missing_cells: vec!["H060-P45-R01".to_owned(), "H060-P45-R02".to_owned()],
            seal_sha256: String::new(),
            signature: None,
        }
        .closed()
    }

    fn write_seal(&self, seal: &Seal) {
        let text = serde_json::to_string_pretty(seal).unwrap();
        fs::write(self.root.join("SEALED.json"), text).unwrap();
    }

    fn verify(&self) -> Result<VerifiedBundle, Refused> {
        open_bundle(&self.root)
            .map_err(Refused::Open)?
            .verify(&mut |_| {})
            .map_err(Refused::Verify)
    }

    fn problems(&self) -> Vec<Problem> {
        match self.verify() {
            Err(Refused::Verify(report)) => report.problems,
            other => panic!("{other:?}"),
        }
    }

    fn open_error(&self) -> BundleError {
        open_bundle(&self.root).unwrap_err()
    }
}

#[derive(Debug)]
enum Refused {
    Open(BundleError),
    Verify(VerifyReport),
}

const NAMES: [&str; 5] = [
    "data/empty",
    "data/odd\rname\n.txt",
    "data/photos/DJI 0002 ü.JPG",
    "data/photos/DJI_0001.JPG",
    "data/photos/sub/100%.JPG",
];

#[test]
fn a_bag_by_python_is_a_bag_but_not_sealed() {
    for algorithms in ["['sha256']", "['sha512']", "['sha256', 'sha512', 'md5']"] {
        let bag = Bag::made_by_python(algorithms);
        let bundle = open_bundle(&bag.root).unwrap();
        assert!(bundle.seal().is_none());
        assert_eq!(bundle.info("Contact-Name"), Some("A"));
        assert_eq!(bundle.payload_paths().collect::<Vec<_>>(), NAMES);
        let mut calls = Vec::new();
        let verified = bundle
            .verify(&mut |progress| {
                calls.push((progress.n_files_done, progress.n_bytes_done));
                assert!(progress.n_files_done <= progress.n_files);
            })
            .unwrap();
        let VerifiedBundle::Unsealed(verified) = verified else {
            panic!("{algorithms}: sealed by nobody");
        };
        assert_eq!(verified.payload().count(), NAMES.len());
        for (path, _) in verified.payload() {
            assert!(verified.path_of(path).is_file(), "{path}");
        }
        assert!(
            calls.is_sorted() && calls.len() >= NAMES.len(),
            "{algorithms}"
        );
    }
}

#[test]
fn a_sealed_bundle_is_proved_and_still_valid_for_python() {
    let bag = Bag::sealed();
    let VerifiedBundle::Sealed(sealed) = bag.verify().unwrap() else {
        panic!("not sealed");
    };
    assert_eq!(sealed.seal().n_confirmed, 3);
    assert_eq!(sealed.seal().missing_cells.len(), 2);
    let (path, digest) = sealed.bag().payload().nth(3).unwrap();
    assert_eq!(path, "data/photos/DJI_0001.JPG");
    let expected = Sha256::digest("one");
    assert_eq!(
        digest,
        expected
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    );
    run_python(
        "import bagit, sys; bagit.Bag(sys.argv[1]).validate()",
        &[&bag.root],
    );
}

#[test]
fn bagit_one_encodes_percent_signs() {
    let bag = Bag::made_by_python("['sha256']");
    let rewrite = |name: &str, from: &str, to: &str| {
        let path = bag.root.join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{name}");
        fs::write(path, text.replace(from, to)).unwrap();
    };
    rewrite("bagit.txt", "0.97", "1.0");
    rewrite("manifest-sha256.txt", "100%.JPG", "100%25.JPG");
    fs::remove_file(bag.root.join("tagmanifest-sha256.txt")).unwrap();
    assert!(matches!(bag.verify(), Ok(VerifiedBundle::Unsealed(_))));
    run_python("import bagit, sys; bagit.Bag(sys.argv[1])", &[&bag.root]);
}

/// Every file of the bag.
fn all_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

/// A signature by a key made for the test.
fn signed(seal: Seal) -> Seal {
    let key = SigningKey::from_bytes(&[7; 32]);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Seal {
        signature: Some(SealSignature {
            public_key: hex(&key.verifying_key().to_bytes()),
            ed25519: hex(&key.sign(&seal.signed_bytes()).to_bytes()),
        }),
        ..seal
    }
}

#[test]
fn any_flipped_byte_breaks_the_bundle() {
    let bag = Bag::sealed();
    bag.write_seal(&signed(bag.seal()));
    assert!(matches!(bag.verify(), Ok(VerifiedBundle::Sealed(_))));
    let mut n_flipped = 0;
    for path in all_files(&bag.root) {
        let whole = fs::read(&path).unwrap();
        let relative = path.strip_prefix(&bag.root).unwrap().to_str().unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            n_flipped += 1;
            match bag.verify() {
                Err(Refused::Verify(report)) => {
                    let named = report.problems.iter().any(|p| p.path() == Some(relative));
                    assert!(named, "{relative} {at}: {report}");
                }
                Err(Refused::Open(error)) => {
                    assert!(!relative.starts_with("data/"), "{relative} {at}: {error}");
                }
                Ok(_) => panic!("byte {at} of {relative} can be flipped"),
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(n_flipped > 1500, "{n_flipped}");
    assert!(matches!(bag.verify(), Ok(VerifiedBundle::Sealed(_))));
}

#[test]
fn an_unsigned_seal_notices_a_flipped_byte_of_its_own() {
    let bag = Bag::sealed();
    let path = bag.root.join("SEALED.json");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            let opened = open_bundle(&bag.root);
            assert!(opened.is_err(), "bit {bit} of byte {at} can be flipped");
        }
    }
}

#[test]
fn missing_and_extra_files_are_named() {
    let bag = Bag::sealed();
    fs::remove_file(bag.root.join("data/photos/DJI_0001.JPG")).unwrap();
    fs::write(bag.root.join("data/new.jpg"), "new").unwrap();
    fs::write(bag.root.join("notes.txt"), "new").unwrap();
    let problems = bag.problems();
    let path = |text: &str| text.to_owned();
    assert!(problems.contains(&Problem::Missing {
        path: path("data/photos/DJI_0001.JPG")
    }));
    assert!(problems.contains(&Problem::Extra {
        path: path("data/new.jpg")
    }));
    assert!(problems.contains(&Problem::Extra {
        path: path("notes.txt")
    }));
    assert_eq!(problems.len(), 3, "{problems:?}");
    // One byte more, and the totals disagree, too.
    fs::write(bag.root.join("data/new.jpg"), "newer").unwrap();
    let problems = bag.problems();
    assert!(
        matches!(&problems[..], [.., Problem::PayloadOxum { .. }]),
        "{problems:?}"
    );
}

#[test]
fn an_unsealed_bag_may_have_unlisted_tag_files_and_no_tag_manifest() {
    let bag = Bag::made_by_python("['sha256']");
    fs::write(bag.root.join("custody.jsonl"), "{}\n").unwrap();
    fs::remove_file(bag.root.join("tagmanifest-sha256.txt")).unwrap();
    assert!(matches!(bag.verify(), Ok(VerifiedBundle::Unsealed(_))));
    // With a seal, the same bag proves nothing.
    let bag = Bag::sealed();
    fs::remove_file(bag.root.join("tagmanifest-sha256.txt")).unwrap();
    assert!(bag.problems().contains(&Problem::NothingSealed));
}

#[test]
fn bags_that_prove_nothing_are_refused() {
    for algorithms in ["['md5']", "['sha1']", "['md5', 'sha1']"] {
        let error = Bag::made_by_python(algorithms).open_error();
        assert!(
            matches!(error, BundleError::WeakAlgorithm { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("SHA-256"), "{error}");
        assert_eq!(error.fault().exit_code(), 1);
    }
    let folder = tempfile::tempdir().unwrap();
    let error = open_bundle(folder.path()).unwrap_err();
    assert!(matches!(error, BundleError::NotABag { .. }), "{error}");
    let bag = Bag::made_by_python("['sha256']");
    fs::remove_file(bag.root.join("manifest-sha256.txt")).unwrap();
    assert!(matches!(bag.open_error(), BundleError::NoManifest));
}

#[test]
fn paths_out_of_the_bag_and_links_are_refused() {
    let digest = "0".repeat(64);
    for path in [
        "../outside",
        "data/../../outside",
        "/etc/passwd",
        "data/..%0D/../../x",
    ] {
        let bag = Bag::sealed();
        let manifest = bag.root.join("manifest-sha256.txt");
        let mut text = fs::read_to_string(&manifest).unwrap();
        text.push_str(&format!("{digest}  {path}\n"));
        fs::write(&manifest, text).unwrap();
        let error = bag.open_error();
        assert!(
            matches!(error, BundleError::UnsafePath { .. }),
            "{path}: {error}"
        );
    }
    let bag = Bag::sealed();
    std::os::unix::fs::symlink("/etc/passwd", bag.root.join("data/link")).unwrap();
    let error = bag.open_error();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    let bag = Bag::sealed();
    fs::remove_file(bag.root.join("bagit.txt")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", bag.root.join("bagit.txt")).unwrap();
    assert!(matches!(bag.open_error(), BundleError::NotAFile { .. }));
}

#[test]
fn seals_that_contradict_themselves_are_refused() {
    let bag = Bag::sealed();
    let good = serde_json::to_string(&bag.seal()).unwrap();
    let refused = |from: &str, to: &str, expected: &str| {
        assert!(good.contains(from), "{from}");
        fs::write(bag.root.join("SEALED.json"), good.replace(from, to)).unwrap();
        let error = bag.open_error().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("sealed/1", "sealed/2", "sealed/1");
    refused("\"root_sha256\":\"", "\"root_sha256\":\"X", "root_sha256");
    refused("\"n_failed\"", "\"n_guessed\"", "n_guessed");
    refused("{", "", "SEALED.json");
    refused("\"n_planned\":5", "\"n_planned\":6", "seal_sha256");

    let contradicting = Seal {
        complete: true,
        ..bag.seal()
    };
    bag.write_seal(&contradicting.closed());
    assert!(bag.open_error().to_string().contains("2 cells are missing"));
    let mut unsorted = bag.seal();
    unsorted.missing_cells.reverse();
    bag.write_seal(&unsorted.closed());
    assert!(bag.open_error().to_string().contains("sorted"));
    let other = Seal {
        root_sha256: "f".repeat(64),
        ..bag.seal()
    };
    bag.write_seal(&other.closed());
    assert!(matches!(&bag.problems()[..], [Problem::RootHash { .. }]));
    let mut forged = signed(bag.seal());
    forged.n_failed = 0;
    bag.write_seal(&forged.closed());
    assert!(matches!(&bag.problems()[..], [Problem::Signature { .. }]));
}
