//! The `schema` field of every file of ours: `name/version`.

/// Declares a tag type that serialises as its schema's text and refuses any other text, naming
/// both.
macro_rules! schema_tag {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($text)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let found = <String as serde::Deserialize>::deserialize(deserializer)?;
                if found == $text {
                    Ok(Self)
                } else {
                    Err(serde::de::Error::custom(format!(
                        "schema {found:?}; this program reads {:?}", $text
                    )))
                }
            }
        }
    };
}

pub(crate) use schema_tag;
