//! The `schema` field of every file of ours: `name/version`. A file of another name or a newer
//! version is refused with both named.

macro_rules! schema_tag {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl $name {
            /// The schema's name and version, as written in the file.
            pub const TEXT: &'static str = $text;
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(Self::TEXT)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let found = String::deserialize(deserializer)?;
                if found == Self::TEXT {
                    Ok(Self)
                } else {
                    Err(serde::de::Error::custom(format!(
                        "schema {found:?}; this version reads {:?}",
                        Self::TEXT
                    )))
                }
            }
        }
    };
}

schema_tag!(
    /// Marks a serialised [`crate::Capture`].
    CaptureSchema,
    "capture/1"
);
schema_tag!(
    /// Marks a `SEALED.json`.
    SealedSchema,
    "sealed/1"
);
