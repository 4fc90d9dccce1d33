//! What a character does in a text, found by trying the steps when it first comes.
//!
//! Leaves out what follows from it (`classes`, `letters`).

use super::{
    classes::{ALONE, Between, LETTER, NUMBER, SIGN, SPACE, TOKEN, WORD},
    letters,
    walk::{Cutter, Placed},
};
use crate::{Error, aligned::Aligned, encode::decode, normalize::forms};

impl Cutter<'_> {
    /// The class of a character met for the first time.
    #[cold]
    #[inline(never)]
    pub(super) fn class(&mut self, character: &str) -> Result<u32, Error> {
        let between = self.between_letters(character)?;
        let class = if self.rules.by_kind {
            self.class_of(character, &between)?
        } else {
            let is_space = character.chars().all(char::is_whitespace);
            if is_space && matches!(between, Between::Nothing) { SPACE } else { WORD }
        };
        let (code, _) = decode(character.as_bytes(), 0);
        if let Between::Joined(becomes) = &between
            && self.rules.by_kind
            && letters::stays(becomes)
            && self.begins_anew(character, becomes)
        {
            self.work.letters.put(code as u32, becomes);
        }
        if let (SIGN | NUMBER, Between::Apart(becomes)) = (class, &between)
            && character.len() == 3
            && becomes == character
        {
            self.work.letters.put_alone(code as u32);
        }
        self.work.classes.put(code as u32, class);
        Ok(class)
    }

    /// The same where steps only look at which kind a character is of.
    fn class_of(&mut self, character: &str, between: &Between) -> Result<u32, Error> {
        let (own, is_apart) = match between {
            // With a mark behind it, it may be another that stays.
            Between::Nothing if self.takes_marks(character) => return Ok(WORD),
            Between::Nothing => return Ok(SPACE),
            Between::Joined(own) if self.rules.has_kinds => (own, false),
            // With a mark behind it, it may be a letter.
            Between::Apart(own) if self.rules.tells && !self.takes_marks(own) => (own, true),
            _ => return Ok(WORD),
        };
        if !self.begins_anew(character, own) {
            return Ok(WORD);
        }
        let signs = ["!", character, "!"].concat();
        let is_alone = is_apart
            && (!self.rules.has_kinds
                || self.is_cut(&["a", character, character, "a"].concat(), &["a", own, own, "a"])?);
        Ok(if is_alone {
            self.token(own).and_then(|id| id.checked_add(TOKEN)).unwrap_or(ALONE)
        } else if self.is_cut(&signs, &["!", own, "!"])? {
            match is_apart {
                true => NUMBER,
                false if self.is_sign_too(character, own)? => WORD,
                false => LETTER,
            }
        } else if is_apart && self.is_cut(&signs, &[&["!", own, "!"].concat()])? {
            SIGN
        } else {
            WORD
        })
    }

    /// Whether a part of words is one of signs too, as `½` is to Oniguruma: those that are no punctuation, and so stay
    /// together where steps cut each `!` out.
    fn is_sign_too(&mut self, character: &str, own: &str) -> Result<bool, Error> {
        let signs = ["€", character, "€"].concat();
        Ok(self.is_cut("a€a", &["a", "€", "a"])? && !self.is_cut(&signs, &["€", own, "€"])?)
    }

    /// Whether no normalizer joins a character to what is before it, by what becomes of it.
    fn begins_anew(&self, character: &str, becomes: &str) -> bool {
        let firsts = [character, becomes].map(|text| text.chars().next());
        !self.rules.composes || firsts.into_iter().flatten().all(forms::begins_anew)
    }

    /// Whether a normalizer may join a character to this one.
    fn takes_marks(&self, becomes: &str) -> bool {
        self.rules.composes && forms::takes_marks(becomes)
    }

    /// How a character is cut from the letters around it.
    fn between_letters(&self, character: &str) -> Result<Between, Error> {
        let (mut pieces, mut places) = (Vec::new(), Vec::new());
        let text = ["a", character, "a"].concat();
        let made = self.maker.tokenizer.normalizer.apply(Aligned::new(&text, 0, true)?, None)?;
        self.cut(made.text(), &mut |at, piece| {
            pieces.push(piece.to_owned());
            places.push(at..at + piece.len());
        })?;
        Ok(match &pieces[..] {
            // Something is left, at which they are cut: some steps would cut `aa` too.
            [first, last] if first == "a" && last == "a" && made.text() != "aa" => Between::Nothing,
            [first, own, last]
                if first == "a"
                    && last == "a"
                    && made.original(places[1].clone()) == (1..1 + character.len()) =>
            {
                Between::Apart(own.clone())
            }
            [_] => letters::of_normalized(&made, character.len())
                .map_or(Between::Other, |own| Between::Joined(own.to_owned())),
            _ => Between::Other,
        })
    }

    /// Whether these are the pieces of a text.
    fn is_cut(&mut self, text: &str, pieces: &[&str]) -> Result<bool, Error> {
        let mut left = pieces.iter();
        let mut same = true;
        self.pieces(text, &mut |_, piece| same &= left.next().is_some_and(|wanted| *wanted == piece))?;
        Ok(same && left.next().is_none())
    }

    /// The token that a piece is, if it is one.
    fn token(&mut self, piece: &str) -> Option<u32> {
        let mut found = Placed { row: Vec::new(), at: 0, piece: 0, is_whole: true };
        self.maker.tokens(piece, &mut self.work.merging, &mut found).ok()?;
        match found.row[..] {
            [[id, ..]] if found.is_whole => Some(id),
            _ => None,
        }
    }
}
