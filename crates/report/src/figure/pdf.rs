// SPDX-License-Identifier: GPL-2.0-or-later
//! A figure as a PDF of one page.

use std::sync::Arc;

use diagnostics::{Exit, Fault};
use svg2pdf::usvg::{self, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

use super::Figure;

/// Fonts to take as a sans serif one, that nearest to Helvetica first; else any that there
/// is.
const SANS_SERIF: [&str; 5] = [
    "Helvetica",
    "Arial",
    "Liberation Sans",
    "Noto Sans",
    "DejaVu Sans",
];

/// The fonts that letters are taken from.
pub struct Fonts(Arc<fontdb::Database>);

/// Why a figure cannot be a PDF.
#[derive(Debug, thiserror::Error)]
pub enum PdfError {
    /// Nothing to take letters from.
    #[error("there is no font here to take letters from")]
    NoFont,
    /// What was drawn is not understood: a fault of lsmeter's.
    #[error("the drawing cannot be made a PDF: {0}")]
    Drawing(String),
}

impl Fault for PdfError {
    fn exit(&self) -> Exit {
        match self {
            PdfError::NoFont => Exit::Environment,
            PdfError::Drawing(_) => Exit::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        let install = "install one (apt install fonts-dejavu-core), or write an .svg";
        matches!(self, PdfError::NoFont).then(|| install.to_owned())
    }
}

impl Fonts {
    /// Those that `load` finds.
    ///
    /// # Errors
    /// [`PdfError::NoFont`] if that is none.
    pub fn from(load: impl FnOnce(&mut fontdb::Database)) -> Result<Fonts, PdfError> {
        let mut fonts = fontdb::Database::new();
        load(&mut fonts);
        let is_there = |wanted: &str| {
            let mut families = fonts.faces().flat_map(|face| &face.families);
            families.any(|(name, _)| name == wanted)
        };
        let preferred = SANS_SERIF.into_iter().find(|name| is_there(name));
        let first = || Some(fonts.faces().next()?.families.first()?.0.as_str());
        let chosen = preferred.or_else(first).ok_or(PdfError::NoFont)?.to_owned();
        fonts.set_sans_serif_family(chosen);
        Ok(Fonts(Arc::new(fonts)))
    }
}

impl Figure {
    /// The figure as a PDF of one page of its size, letters as text that can be searched.
    ///
    /// # Errors
    /// [`PdfError::Drawing`] if its SVG cannot be read.
    pub fn pdf(&self, fonts: &Fonts) -> Result<Vec<u8>, PdfError> {
        let drawing = |error: String| PdfError::Drawing(error);
        let options = usvg::Options {
            fontdb: Arc::clone(&fonts.0),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&self.svg(), &options)
            .map_err(|error| drawing(error.to_string()))?;
        svg2pdf::to_pdf(&tree, ConversionOptions::default(), PageOptions::default())
            .map_err(|error| drawing(error.to_string()))
    }
}
