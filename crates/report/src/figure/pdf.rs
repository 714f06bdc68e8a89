// SPDX-License-Identifier: GPL-2.0-or-later
//! Drawings as a PDF of one page. Its letters are those of a font of this machine, of which
//! the glyphs used are put in; they can be searched and copied.

use std::collections::BTreeMap;
use std::io::Write as _;

use diagnostics::Failure;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use fontdb::{Family, Query, Weight};
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;
use ttf_parser::Face;

use super::drawing::{Anchor, Drawing, Element, PAPER, Text, WIDTH};

/// Families to take as a sans serif one, that nearest to Helvetica first; else any that
/// there is.
const SANS_SERIF: [&str; 5] = [
    "Helvetica",
    "Arial",
    "Liberation Sans",
    "Noto Sans",
    "DejaVu Sans",
];
/// Of fonts in the page's resources: regular, bold.
const NAMES: [Name<'_>; 2] = [Name(b"F0"), Name(b"F1")];
const SYSTEM: SystemInfo<'_> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

/// The fonts that letters are taken from: regular and bold.
pub struct Fonts([File; 2]);

/// A font's file, and which face of it.
struct File(Vec<u8>, u32);

impl Fonts {
    /// Of those that `load` finds.
    ///
    /// # Errors
    /// If that is none.
    pub fn from(load: impl FnOnce(&mut fontdb::Database)) -> Result<Fonts, Failure> {
        let mut fonts = fontdb::Database::new();
        load(&mut fonts);
        let none = || {
            let install = "install one (apt install fonts-dejavu-core), or write an .svg";
            Failure::environment(
                "there is no TrueType font here to take letters from",
                install,
            )
        };
        let found = |weight| found(&fonts, weight).ok_or_else(none);
        Ok(Fonts([found(Weight::NORMAL)?, found(Weight::BOLD)?]))
    }
}

fn found(fonts: &fontdb::Database, weight: Weight) -> Option<File> {
    let read = |id| {
        let file = fonts.with_face_data(id, |data, index| File(data.to_owned(), index))?;
        let face = Face::parse(&file.0, file.1).ok()?;
        let usable = face.tables().glyf.is_some() && face.glyph_index('?').is_some();
        usable.then_some(file)
    };
    let of = |name: &&str| {
        let families = &[Family::Name(name)];
        read(fonts.query(&Query {
            families,
            weight,
            ..Query::default()
        })?)
    };
    let preferred = SANS_SERIF.iter().find_map(of);
    preferred.or_else(|| fonts.faces().find_map(|face| read(face.id)))
}

/// A page as large as the drawing.
pub(super) fn written(drawing: &Drawing, fonts: &Fonts) -> Vec<u8> {
    let [catalog, pages, page, content, info] = [1, 2, 3, 4, 5].map(Ref::new);
    let height = drawing.height as f32;
    let mut letters = fonts.0.each_ref().map(Letters::of);
    let mut paper = Content::new();
    // As in a drawing: y grows downwards.
    paper.transform([1.0, 0.0, 0.0, -1.0, 0.0, height]);
    for element in &drawing.elements {
        draw(&mut paper, element, &mut letters);
    }

    let mut pdf = Pdf::new();
    pdf.document_info(info)
        .title(TextStr(&drawing.title))
        .creator(TextStr("lsmeter"));
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    {
        let mut page = pdf.page(page);
        page.parent(pages).contents(content);
        page.media_box(Rect::new(0.0, 0.0, WIDTH as f32, height));
        let mut resources = page.resources();
        let mut fonts = resources.fonts();
        for (name, first) in NAMES.into_iter().zip([10, 20]) {
            fonts.pair(name, Ref::new(first));
        }
    }
    let packed = packed(&paper.finish());
    pdf.stream(content, &packed).filter(Filter::FlateDecode);
    for (letters, first) in letters.iter().zip([10, 20]) {
        letters.write(&mut pdf, first);
    }
    pdf.finish()
}

fn draw(paper: &mut Content, element: &Element, letters: &mut [Letters<'_>; 2]) {
    match element {
        Element::Rectangle {
            at,
            size,
            fill,
            edge,
        } => {
            let [x, y, width, height] = [at[0], at[1], size[0], size[1]].map(|n| n as f32);
            ink(paper, fill, PAPER);
            paper.rect(x, y, width, height);
            if *edge {
                paper.set_line_width(0.5).fill_nonzero_and_stroke();
            } else {
                paper.fill_nonzero();
            }
        }
        Element::Strokes {
            through,
            colour,
            width,
            dashed,
        } => {
            ink(paper, colour, colour);
            paper.set_line_width(*width as f32);
            let dashes = if *dashed { &[6.0, 4.0][..] } else { &[] };
            paper.set_dash_pattern(dashes.iter().copied(), 0.0);
            through.iter().for_each(|places| path(paper, places));
            paper.stroke().set_dash_pattern([], 0.0);
        }
        Element::Outline {
            corners,
            colour,
            hollow,
        } => {
            ink(paper, if *hollow { PAPER } else { colour }, colour);
            paper.set_line_width(1.0);
            path(paper, corners);
            paper.close_fill_nonzero_and_stroke();
        }
        Element::Text(text) => {
            let at = usize::from(text.bold);
            letters[at].show(paper, NAMES[at], text);
        }
        Element::Group(_, elements) => {
            for element in elements {
                draw(paper, element, letters);
            }
        }
    }
}

/// Colours are `#rrggbb`.
fn ink(paper: &mut Content, fill: &str, stroke: &str) {
    let [fill, stroke] = [fill, stroke].map(|colour| {
        [1, 3, 5].map(|at| {
            let digits = colour.get(at..at + 2).unwrap_or_default();
            f32::from(u8::from_str_radix(digits, 16).unwrap_or_default()) / 255.0
        })
    });
    paper.set_fill_rgb(fill[0], fill[1], fill[2]);
    paper.set_stroke_rgb(stroke[0], stroke[1], stroke[2]);
}

fn path(paper: &mut Content, places: &[[f64; 2]]) {
    for (at, [x, y]) in places.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        match at {
            0 => paper.move_to(x, y),
            _ => paper.line_to(x, y),
        };
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    // Memory takes all that is written.
    let written = packer.write_all(bytes).and_then(|()| packer.finish());
    written.unwrap_or_default()
}

/// A font, and what of it is used.
struct Letters<'a> {
    file: &'a File,
    /// None if the file is no font, as `Fonts` has seen that it is.
    face: Option<Face<'a>>,
    glyphs: GlyphRemapper,
    /// What glyphs of the PDF mean, and how wide they are in thousandths of their size.
    used: BTreeMap<u16, (char, f32)>,
}

impl<'a> Letters<'a> {
    fn of(file: &'a File) -> Letters<'a> {
        Letters {
            file,
            face: Face::parse(&file.0, file.1).ok(),
            glyphs: GlyphRemapper::new(),
            used: BTreeMap::new(),
        }
    }

    /// From the font's units to thousandths.
    fn scale(&self) -> f32 {
        let units = self.face.as_ref().map_or(1000, Face::units_per_em);
        1000.0 / f32::from(units.max(1))
    }

    /// The glyph of a character in the PDF. What the font lacks is a question mark.
    fn glyph(&mut self, of: char) -> Option<(u16, f32)> {
        let face = self.face.as_ref()?;
        let (of, glyph) = match face.glyph_index(of) {
            Some(glyph) => (of, glyph),
            None => ('?', face.glyph_index('?')?),
        };
        let width = f32::from(face.glyph_hor_advance(glyph)?) * self.scale();
        let glyph = self.glyphs.remap(glyph.0);
        self.used.entry(glyph).or_insert((of, width));
        Some((glyph, width))
    }

    fn show(&mut self, paper: &mut Content, name: Name<'_>, text: &Text) {
        let (mut bytes, mut width) = (Vec::new(), 0.0);
        for (glyph, wide) in text.content.chars().filter_map(|of| self.glyph(of)) {
            bytes.extend(glyph.to_be_bytes());
            width += wide * text.size as f32 / 1000.0;
        }
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let [x, y] = text.at.map(|at| at as f32);
        ink(paper, text.fill, text.fill);
        paper.begin_text().set_font(name, text.size as f32);
        paper.set_text_matrix(match text.turned {
            true => [0.0, -1.0, -1.0, 0.0, x, y + before],
            false => [1.0, 0.0, 0.0, -1.0, x - before, y],
        });
        paper.show(Str(&bytes)).end_text();
    }

    /// As objects from number `first` on.
    fn write(&self, pdf: &mut Pdf, first: i32) {
        let [font, cid, descriptor, cmap, data] = [0, 1, 2, 3, 4].map(|at| Ref::new(first + at));
        let Some(face) = &self.face else { return };
        let name = Name(b"LSMETR+SansSerif");
        pdf.type0_font(font)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(cid)
            .to_unicode(cmap);
        let mut widths = pdf.cid_font(cid);
        widths
            .subtype(CidFontType::Type2)
            .base_font(name)
            .system_info(SYSTEM)
            .font_descriptor(descriptor)
            .default_width(0.0)
            .cid_to_gid_map_predefined(Name(b"Identity"));
        let mut each = widths.widths();
        for (glyph, (_, width)) in &self.used {
            each.consecutive(*glyph, [*width]);
        }
        each.finish();
        widths.finish();
        let scaled = |units: i16| f32::from(units) * self.scale();
        let bounds = face.global_bounding_box();
        let [left, low, right, high] =
            [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled);
        pdf.font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(left, low, right, high))
            .italic_angle(0.0)
            .ascent(scaled(face.ascender()))
            .descent(scaled(face.descender()))
            .cap_height(scaled(face.capital_height().unwrap_or(face.ascender())))
            .stem_v(80.0)
            .font_file2(data);
        let mut meaning = UnicodeCmap::new(Name(b"Meaning"), SYSTEM);
        for (glyph, (of, _)) in &self.used {
            meaning.pair(*glyph, *of);
        }
        pdf.cmap(cmap, &meaning.finish());
        // A font that cannot be made smaller is put in whole, with other glyphs than named.
        let subset = subsetter::subset(&self.file.0, self.file.1, &self.glyphs);
        let subset = packed(&subset.unwrap_or_default());
        pdf.stream(data, &subset).filter(Filter::FlateDecode);
    }
}
