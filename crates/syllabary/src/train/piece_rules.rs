//! Which texts may be sentencepiece's pieces: their length, their scripts, and where spaces may stand in them.
//!
//! Asked of two symbols in a row that may be pieces already, or are single characters. The specification is
//! `reference/train_sentencepiece_valid.py`. Leaves out: the script of a character, and which are refused.

const SPACE: char = '▁';

/// A character of the alphabet, and what it lets pieces be.
#[derive(Clone, Copy, Debug)]
pub struct Character {
    /// The character.
    pub text: char,
    /// `Script::ANY`, `Script::INHERITED`, or a number for each other script.
    pub script: u16,
    /// Whether no piece of two characters or more may hold it.
    pub refused: bool,
}

/// The scripts that are none.
pub struct Script;

impl Script {
    /// Goes with every script.
    pub const ANY: u16 = 0;
    /// Is of the script of the character before it.
    pub const INHERITED: u16 = 1;
}

/// Which texts may be pieces; the options have sentencepiece's names.
#[derive(Clone, Copy, Debug)]
pub struct PieceRules {
    /// In characters.
    pub max_sentencepiece_length: u32,
    /// Whether spaces stand only at the ends of pieces.
    pub split_by_whitespace: bool,
    /// Whether spaces end words.
    pub treat_whitespace_as_suffix: bool,
    /// Whether pieces may be of spaces alone.
    pub allow_whitespace_only_pieces: bool,
}

/// What decides whether two symbols in a row may be one.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// In characters.
    pub length: u32,
    spaces: u32,
    space_first: bool,
    space_last: bool,
    /// The first script that is not inherited; spaces have none.
    first: Option<u16>,
    /// The script that goes on behind it, if `first` is there.
    last: u16,
}

impl Shape {
    /// Of a character alone.
    pub fn of(character: Character) -> Shape {
        let space = character.text == SPACE;
        let own = !space && character.script != Script::INHERITED;
        Shape {
            length: 1,
            spaces: u32::from(space),
            space_first: space,
            space_last: space,
            first: own.then_some(character.script),
            last: if own { character.script } else { Script::ANY },
        }
    }

    /// The shape of both in a row, or `None` if that may be no piece.
    pub fn joined(self, right: Shape, rules: &PieceRules) -> Option<Shape> {
        let length = self.length.saturating_add(right.length);
        let next = right.first.unwrap_or(Script::ANY);
        let scripts_fit = self.last == Script::ANY || next == Script::ANY || self.last == next;
        let both = Shape {
            length,
            spaces: self.spaces + right.spaces,
            space_first: self.space_first,
            space_last: right.space_last,
            first: self.first.or(right.first),
            last: if right.first.is_some() { right.last } else { self.last },
        };
        let fits = length <= rules.max_sentencepiece_length && scripts_fit && both.spaces_fit(rules);
        fits.then_some(both)
    }

    fn spaces_fit(self, rules: &PieceRules) -> bool {
        if self.spaces == 0 || (rules.allow_whitespace_only_pieces && self.spaces == self.length) {
            return true;
        }
        match (rules.treat_whitespace_as_suffix, rules.split_by_whitespace) {
            (true, true) => self.spaces == u32::from(self.space_last),
            (true, false) => !self.space_first,
            (false, true) => self.spaces == u32::from(self.space_first),
            (false, false) => !self.space_last,
        }
    }
}

/// The shapes of symbols by id, and which two of them may be one.
#[derive(Debug, Clone)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    rules: PieceRules,
}

impl Shapes {
    /// Of characters, by id.
    pub fn of(characters: &[Character], rules: PieceRules) -> Shapes {
        Shapes { shapes: characters.iter().copied().map(Shape::of).collect(), rules }
    }

    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether the two in a row may be a piece.
    #[inline]
    pub fn fit(&self, (left, right): (u32, u32)) -> bool {
        self.shapes[left as usize].joined(self.shapes[right as usize], &self.rules).is_some()
    }

    /// The next symbol is these two, which fit.
    pub fn join(&mut self, (left, right): (u32, u32)) {
        let joined = self.shapes[left as usize].joined(self.shapes[right as usize], &self.rules);
        self.shapes.push(joined.unwrap_or(self.shapes[left as usize]));
    }
}
