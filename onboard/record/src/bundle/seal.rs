//! `SEALED.json`, schema "sealed/1": what was sealed, by which agent, and what is missing.
//!
//! It is written last, after everything else is durable, and lies outside the tag manifest:
//! `root_sha256` is the SHA-256 of `tagmanifest-sha256.txt`, which lists every other tag file, whose
//! `manifest-sha256.txt` lists the payload. One hash thus fixes every byte of the bag.
//!
//! ```json
//! {
//!   "schema": "sealed/1",
//!   "root_sha256": "64 hex digits",
//!   "sealed_utc": "2026-06-01T10:00:00Z",
//!   "agent_version": "0.1.0",
//!   "plan_sha256": "64 hex digits, or null",
//!   "n_planned": 155, "n_confirmed": 153, "n_failed": 2, "n_strays": 0,
//!   "complete": false,
//!   "missing_cells": ["H060-P45-R07", "H060-P45-R08"],
//!   "seal_sha256": "64 hex digits, over the fields above",
//!   "signature": { "public_key": "64 hex digits", "ed25519": "128 hex digits" }
//! }
//! ```
//!
//! Hex digits are lower-case. `signature` may be absent. Unknown fields are refused, so that a
//! later addition needs a new schema version.

use super::hex;
use crate::error::BundleError;
use crate::schema::SealedSchema;
use ed25519_dalek::{Signature, VerifyingKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The contents of `SEALED.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// "sealed/1".
    pub schema: SealedSchema,
    /// SHA-256 of `tagmanifest-sha256.txt`, 64 lower-case hex digits.
    pub root_sha256: String,
    /// When it was sealed, by the agent's clock.
    pub sealed_utc: Timestamp,
    /// Version of the agent that sealed it.
    pub agent_version: String,
    /// SHA-256 of the flight plan's file, 64 lower-case hex digits; none for captures without one.
    pub plan_sha256: Option<String>,
    /// Cells the plan asked for.
    pub n_planned: u64,
    /// Cells with a confirmed photo.
    pub n_confirmed: u64,
    /// Cells whose capture failed.
    pub n_failed: u64,
    /// Photos in the bundle that belong to no cell.
    pub n_strays: u64,
    /// Whether every planned cell that is feasible has its photo.
    pub complete: bool,
    /// Ids of the cells without a photo, sorted; empty when complete.
    pub missing_cells: Vec<String>,
    /// SHA-256 of [`Self::signed_bytes`], so that a damaged seal is noticed without a signature;
    /// see [`Self::closed`].
    pub seal_sha256: String,
    /// The agent's signature, if it has a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SealSignature>,
}

/// An Ed25519 signature of the seal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealSignature {
    /// The signer's public key, 64 hex digits. Whether that signer is trusted is for the reader of
    /// the bundle to decide.
    pub public_key: String,
    /// Signature of [`Seal::signed_bytes`], 128 hex digits.
    pub ed25519: String,
}

impl Seal {
    /// Parses and checks `SEALED.json`.
    pub(super) fn parse(text: &str) -> Result<Self, BundleError> {
        let wrong = |problem: String| BundleError::Seal { problem };
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let seal: Seal = Seal::deserialize(&value).map_err(|error| wrong(error.to_string()))?;
        let is_digest = |hex: &str| from_hex::<32>(hex).is_some();
        if !is_digest(&seal.root_sha256) {
            return Err(wrong(
                "root_sha256 is not 64 lower-case hex digits".to_owned(),
            ));
        }
        if !seal.plan_sha256.as_deref().is_none_or(is_digest) {
            return Err(wrong(
                "plan_sha256 is not 64 lower-case hex digits".to_owned(),
            ));
        }
        // Over the values as they are in the file, so that other spellings of the same value (a
        // lower-case T in a time) are noticed, too.
        if digest_of(&unsigned_text(value)) != seal.seal_sha256 {
            return Err(wrong(
                "seal_sha256 does not belong to the rest of it".to_owned(),
            ));
        }
        if seal.complete && !seal.missing_cells.is_empty() {
            return Err(wrong(format!(
                "complete, yet {} cells are missing",
                seal.missing_cells.len()
            )));
        }
        if !seal.missing_cells.is_sorted_by(|a, b| a < b) {
            return Err(wrong(
                "missing_cells are not sorted or not unique".to_owned(),
            ));
        }
        Ok(seal)
    }

    /// This seal with its own digest filled in, as it must be written. Sign it afterwards.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.seal_sha256 = digest_of(&self.signed_bytes());
        self
    }

    /// What the digest and the signature are of: this seal without those two, as JSON with sorted
    /// keys and no blanks.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        unsigned_text(serde_json::to_value(self).expect("a seal has only plain fields"))
    }

    /// Whether the signature, if any, is that of its public key over this seal.
    pub(super) fn signature_problem(&self) -> Option<&'static str> {
        let signature = self.signature.as_ref()?;
        let Some(key) = from_hex::<32>(&signature.public_key)
            .and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
        else {
            return Some("the public key is no Ed25519 key");
        };
        let Some(bytes) = from_hex::<64>(&signature.ed25519) else {
            return Some("the signature is not 128 lower-case hex digits");
        };
        key.verify_strict(&self.signed_bytes(), &Signature::from_bytes(&bytes))
            .is_err()
            .then_some("the signature does not belong to this seal and key")
    }
}

/// The seal's fields but for its digest and signature, in canonical form.
fn unsigned_text(mut value: Value) -> Vec<u8> {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("seal_sha256");
        fields.remove("signature");
    }
    let mut text = String::new();
    write_sorted(&value, &mut text);
    text.into_bytes()
}

fn digest_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes of lower-case hex digits.
fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(is_hex) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}

/// JSON without blanks, keys of objects sorted. Values of a seal nest two deep at most.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            out.push('{');
            for (key_idx, key) in keys.into_iter().enumerate() {
                if key_idx > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_sorted(&fields[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (item_idx, item) in items.iter().enumerate() {
                if item_idx > 0 {
                    out.push(',');
                }
                write_sorted(item, out);
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}
