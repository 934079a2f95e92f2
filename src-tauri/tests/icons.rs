//! The icons are drawn from their SVG files and kept beside them; `CLIENTMCP_WRITE_ICONS=1` draws them anew.
//!
//! Drawn here, and not when the app is built, as the drawing costs a quarter of a minute to compile. Compared with a
//! little tolerance, since processors round differently.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails where its tools fail")]

use std::{env, fs, path::Path};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};

/// Pixels of a tray icon: twice what panels have on ordinary screens.
const TRAY: u32 = 44;

/// The states; see `tray::menu::Icon`.
const STATES: [&str; 5] = ["idle", "active", "waiting", "paused", "error"];

/// For panels of either kind, the colours. What is drawn for light ones can be seen on dark ones too, if need be.
const PANELS: [(&str, &str); 2] = [
    ("light", "svg{color:#545d70} .active{color:#0b7a5b} .waiting{color:#b25e00} .error{color:#c4202b}"),
    ("dark", "svg{color:#e4e7ee} .active{color:#3ddc97} .waiting{color:#ffb84d} .error{color:#ff6b6b}"),
];

/// Sizes of the app's own icon in files of their own, as packages want them.
const SIZES: [(&str, u32); 4] = [("32x32", 32), ("128x128", 128), ("128x128@2x", 256), ("icon", 512)];

/// Sizes in Windows' file.
const ICO: [u32; 5] = [16, 32, 48, 64, 256];

/// Sizes in macOS's file, with the names that the file gives them.
const ICNS: [(&[u8; 4], u32); 5] = [(b"ic11", 32), (b"ic12", 64), (b"ic07", 128), (b"ic08", 256), (b"ic09", 512)];

// holds: desktop-icons-current
#[test]
fn tray_icons_are_as_they_are_drawn() {
    for state in STATES {
        for (panel, colours) in PANELS {
            let drawn = draw(&format!("tray/{state}.svg"), TRAY, colours);
            check(&format!("tray/{state}-{panel}.png"), &drawn);
        }
    }
}

// holds: desktop-icons-current
#[test]
fn the_app_icon_is_as_it_is_drawn() {
    for (name, size) in SIZES {
        check(&format!("{name}.png"), &app(size));
    }
    write("icon.ico", || ico(&ICO.map(|size| (size, png(&app(size))))));
    write("icon.icns", || icns(&ICNS.map(|(name, size)| (name, png(&app(size))))));
}

// holds: desktop-tray-shapes
#[test]
fn each_state_has_a_shape_of_its_own() {
    let shapes = STATES.map(|state| shape(&draw(&format!("tray/{state}.svg"), TRAY, PANELS[0].1)));
    for (index, one) in shapes.iter().enumerate() {
        for (other, state) in shapes[index + 1..].iter().zip(&STATES[index + 1..]) {
            let differing = one.iter().zip(other).filter(|(one, other)| one != other).count();
            assert!(differing > 40, "{} and {state} differ in {differing} pixels", STATES[index]);
        }
    }
}

/// Without colour: which pixels are covered.
fn shape(drawn: &Pixmap) -> Vec<bool> {
    drawn.pixels().iter().map(|pixel| pixel.alpha() > 127).collect()
}

fn app(size: u32) -> Pixmap {
    draw("app.svg", size, "")
}

fn draw(file: &str, size: u32, colours: &str) -> Pixmap {
    let options = Options { style_sheet: Some(colours.into()), ..Options::default() };
    let tree = Tree::from_data(&read(file).expect(file), &options).expect(file);
    let mut drawn = Pixmap::new(size, size).expect("a size");
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let scale = size as f32 / tree.size().width();
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut drawn.as_mut());
    drawn
}

fn png(drawn: &Pixmap) -> Vec<u8> {
    drawn.encode_png().expect("pixels")
}

fn check(file: &str, drawn: &Pixmap) {
    write(file, || png(drawn));
    let kept = Pixmap::decode_png(&read(file).unwrap_or_default()).unwrap_or_else(|fault| panic!("{file}: {fault}"));
    assert_eq!((kept.width(), kept.height()), (drawn.width(), drawn.height()), "{file}");
    let furthest = kept.data().iter().zip(drawn.data()).map(|(one, other)| one.abs_diff(*other)).max();
    assert!(furthest <= Some(8), "{file} is not as it is drawn now: run this test with CLIENTMCP_WRITE_ICONS=1");
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/icons"))
}

fn read(file: &str) -> std::io::Result<Vec<u8>> {
    fs::read(folder().join(file))
}

fn write(file: &str, content: impl Fn() -> Vec<u8>) {
    if env::var_os("CLIENTMCP_WRITE_ICONS").is_some() {
        fs::write(folder().join(file), content()).expect(file);
    }
    assert!(folder().join(file).exists(), "{file} is missing");
}

/// Windows' file: a list of where each picture lies, then the pictures, as PNG.
fn ico(pictures: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let count = u16::try_from(pictures.len()).expect("few");
    let mut file = [0_u16, 1, count].map(u16::to_le_bytes).concat();
    let mut offset = 6 + 16 * u32::from(count);
    for (size, picture) in pictures {
        // 0 stands for 256.
        let side = u8::try_from(*size).unwrap_or(0);
        let bytes = u32::try_from(picture.len()).expect("small");
        file.extend([side, side, 0, 0, 1, 0, 32, 0]);
        file.extend([bytes, offset].map(u32::to_le_bytes).concat());
        offset += bytes;
    }
    file.extend(pictures.iter().flat_map(|(_, picture)| picture));
    file
}

/// macOS's file: each picture, as PNG, behind its name and length.
fn icns(pictures: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes + 8).expect("small").to_be_bytes();
    let body: Vec<u8> = pictures
        .iter()
        .flat_map(|(name, picture)| [name.as_slice(), &length(picture.len()), picture].concat())
        .collect();
    [b"icns".as_slice(), &length(body.len()), &body].concat()
}
