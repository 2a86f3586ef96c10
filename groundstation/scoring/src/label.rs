//! Brand and model: what a recognition response says, as it is compared.

use crate::json::first_object;
use crate::text::normalize_label;

/// A vehicle's brand and model, normalised. The empty text stands for what was not said. The order is
/// that of ties: by code points, brand first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelPair {
    /// The brand.
    pub brand: String,
    /// The model.
    pub model: String,
}

impl LabelPair {
    /// Normalises both.
    #[must_use]
    pub fn new(brand: &str, model: &str) -> Self {
        Self {
            brand: normalize_label(brand),
            model: normalize_label(model),
        }
    }

    /// What a response says: `brand` and `model` of its first JSON object. `None` when it has none.
    #[must_use]
    pub fn of_response(response: &str) -> Option<Self> {
        let [brand, model] = first_object(response, ["brand", "model"])?;
        Some(Self::new(&brand, &model))
    }
}
