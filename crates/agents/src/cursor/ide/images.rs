//! Images of a bubble: their bytes stand in it, or it names a file.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use carryover_core::transcript::{Blob, BlobLocation, Part};
use serde_json::Value;

/// The images of a list, each with its bytes.
pub(super) fn read_images(images: &[Value]) -> Vec<Part> {
    images.iter().filter_map(|image| image_part(&image["data"], image["path"].as_str())).collect()
}

/// The images that were chosen from files, as far as these last.
pub(super) fn read_selected(images: &[Value]) -> Vec<Part> {
    let path = |image: &Value| {
        let path = image["path"].as_str()?;
        let media_type = media_type_of_name(path)?;
        let location = BlobLocation::File(Path::new(path).to_path_buf());
        Path::new(path).is_file().then(|| Part::Blob(Blob { media_type, name: Some(path.to_owned()), location }))
    };
    images.iter().filter_map(path).collect()
}

/// An image whose bytes are Base64, an address with Base64, a list of numbers, or an object that names them by their places.
fn image_part(data: &Value, name: Option<&str>) -> Option<Part> {
    let bytes = |numbers: &mut dyn Iterator<Item = &Value>| -> Option<Vec<u8>> {
        numbers.map(|number| u8::try_from(number.as_u64()?).ok()).collect()
    };
    let (told, encoded) = match data {
        Value::String(text) => match text.strip_prefix("data:").and_then(|text| text.split_once(";base64,")) {
            Some((media_type, data)) => (Some(media_type.to_owned()), data.to_owned()),
            None => (None, text.clone()),
        },
        Value::Array(numbers) => (None, STANDARD.encode(bytes(&mut numbers.iter())?)),
        // An array of bytes, written as an object: its keys are in order.
        Value::Object(numbers) => (None, STANDARD.encode(bytes(&mut numbers.values())?)),
        _ => return None,
    };
    let media_type = told.or_else(|| media_type_of_data(&encoded)).or_else(|| media_type_of_name(name?))?;
    let location = BlobLocation::Inline(encoded.into());
    Some(Part::Blob(Blob { media_type, name: name.map(str::to_owned), location }))
}

/// By what the Base64 of an image begins with.
fn media_type_of_data(encoded: &str) -> Option<String> {
    let known =
        [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];
    known.iter().find(|(start, _)| encoded.starts_with(start)).map(|(_, media_type)| (*media_type).to_owned())
}

fn media_type_of_name(name: &str) -> Option<String> {
    let ending = name.rsplit('.').next()?.to_ascii_lowercase();
    let known = [("png", "png"), ("jpg", "jpeg"), ("jpeg", "jpeg"), ("gif", "gif"), ("webp", "webp")];
    known.iter().find(|(end, _)| *end == ending).map(|(_, kind)| format!("image/{kind}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_are_read_in_each_of_their_forms() {
        let told = |data: Value| match image_part(&data, None) {
            Some(Part::Blob(Blob { media_type, location: BlobLocation::Inline(data), .. })) => {
                format!("{media_type} {data}")
            }
            _ => String::new(),
        };
        let png = "image/png iVBORw0KGgo=";
        assert_eq!(told(json!("iVBORw0KGgo=")), png);
        assert_eq!(told(json!("data:image/png;base64,iVBORw0KGgo=")), png);
        assert_eq!(told(json!([137, 80, 78, 71, 13, 10, 26, 10])), png);
        assert_eq!(told(json!({ "0": 137, "1": 80, "2": 78, "3": 71, "4": 13, "5": 10, "6": 26, "7": 10 })), png);
        for wrong in [json!(7), json!([300]), json!("no image"), json!({ "a": "b" })] {
            assert_eq!(told(wrong.clone()), "", "{wrong}");
        }
    }
}
