//! A pattern as a tree without possessive quantifiers, atomic groups and captures.
//!
//! Adds: the tree, and how that of `fancy-regex` becomes one with the same matches. Leaves out, with `None`:
//! back-references, conditions, calls, `\K`, `\G`, look-behind over more than one character, atomic groups that
//! may end at several places, and repeats of what can be empty (engines differ in when they stop).
//!
//! Why the rewriting changes no match. An atomic group keeps its first match and forgets the others, so it is
//! the group itself where the others are never asked for or there are none:
//!
//! - at the end of the pattern (`last`): nothing follows that could fail and ask for another;
//! - where all matches from one place end at the same place (`is_sole`): all are of one length, or its
//!   alternatives begin with other characters;
//! - `(?>A|B)` is `(?>A)|(?!A)(?>B)`: B is tried only where A has no match at all;
//! - `(?>AB)`, where A is sole, is `A(?>B)`;
//! - `A*+`, where A is sole, is `A*(?!A)`: there is one chain of A's, and only its longest part has no A after it;
//!   with an upper limit, `A{0,n}+` is `A(A{0,n-1})+|(?!A)`; a lazy `A{n,m}?` stops at n.

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// The most nodes of a tree; rewriting may copy parts.
const MAX_NODES: usize = 20_000;

/// What a pattern matches, the first choice first.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Nothing, everywhere.
    Empty,
    /// One character of the set.
    One(ClassUnicode),
    Concat(Vec<Node>),
    Alt(Vec<Node>),
    Repeat {
        child: Box<Node>,
        least: u32,
        most: Option<u32>,
        greedy: bool,
    },
    /// Nothing, where the character behind or ahead is in `set`, or, if `edge`, there is none.
    Near {
        behind: bool,
        set: ClassUnicode,
        edge: bool,
    },
    /// Nothing, where the tree matches ahead, or does not.
    Far {
        tree: Box<Node>,
        negated: bool,
    },
    /// All matches from one place are known to end at the same place.
    Sole(Box<Node>),
}

/// The tree of a whole pattern, if there is one with the same matches and none of them is empty.
pub(super) fn of_pattern(expr: &Expr) -> Option<Node> {
    let node = Reader { left: MAX_NODES }.node(expr, true)?;
    (count(&node) <= MAX_NODES && !can_be_empty(&node)).then_some(node)
}

fn count(node: &Node) -> usize {
    match node {
        Node::Empty | Node::One(_) | Node::Near { .. } => 1,
        Node::Concat(nodes) | Node::Alt(nodes) => 1 + nodes.iter().map(count).sum::<usize>(),
        Node::Repeat { child: node, .. } | Node::Far { tree: node, .. } | Node::Sole(node) => 1 + count(node),
    }
}

struct Reader {
    /// Nodes that may still be made.
    left: usize,
}

impl Reader {
    /// `last`: nothing of the pattern comes after this.
    fn node(&mut self, expr: &Expr, last: bool) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        Some(match expr {
            Expr::Empty => Node::Empty,
            Expr::Any { newline, crlf } => Node::One(any(*newline, *crlf)),
            Expr::Assertion(assertion) => assertion_node(assertion)?,
            Expr::Literal { val, casei: false } => {
                Node::Concat(val.chars().map(|c| Node::One(set(&[(c, c)]))).collect())
            }
            Expr::Literal { val, casei: true } => parsed(&format!("(?i:{})", regex_syntax::escape(val)))?,
            Expr::Delegate { inner, casei: false } => parsed(inner)?,
            Expr::Delegate { inner, casei: true } => parsed(&format!("(?i:{inner})"))?,
            Expr::Concat(parts) => {
                let end = parts.len().saturating_sub(1);
                let parts = parts.iter().enumerate().map(|(at, part)| self.node(part, last && at == end));
                Node::Concat(parts.collect::<Option<_>>()?)
            }
            Expr::Alt(branches) => {
                Node::Alt(branches.iter().map(|branch| self.node(branch, last)).collect::<Option<_>>()?)
            }
            Expr::Group(inner) => self.node(inner, last)?,
            Expr::AtomicGroup(inner) => {
                let node = self.node(inner, last)?;
                if last { node } else { self.atomic(node)? }
            }
            Expr::Repeat { child, lo, hi, greedy } => {
                let child = self.node(child, last && *hi <= 1)?;
                let most = if *hi == usize::MAX { None } else { Some(u32::try_from(*hi).ok()?) };
                if can_be_empty(&child) && most != Some(1) {
                    return None;
                }
                let least = u32::try_from(*lo).ok()?;
                Node::Repeat { child: Box::new(child), least, most, greedy: *greedy }
            }
            Expr::LookAround(inner, LookAround::LookAhead) => look(self.node(inner, true)?, false),
            Expr::LookAround(inner, LookAround::LookAheadNeg) => look(self.node(inner, true)?, true),
            Expr::LookAround(inner, LookAround::LookBehind) => behind(&self.node(inner, true)?, false)?,
            Expr::LookAround(inner, LookAround::LookBehindNeg) => behind(&self.node(inner, true)?, true)?,
            _ => return None,
        })
    }

    /// `(?>node)`.
    fn atomic(&mut self, node: Node) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        if is_sole(&node) {
            return Some(Node::Sole(Box::new(node)));
        }
        let made = match node {
            Node::Alt(branches) => {
                let mut made: Option<Node> = None;
                for branch in branches.into_iter().rev() {
                    self.left = self.left.checked_sub(count(&branch))?;
                    let otherwise = made.map(|rest| Node::Concat(vec![look(branch.clone(), true), rest]));
                    let first = self.atomic(branch)?;
                    made = Some(Node::Alt([Some(first), otherwise].into_iter().flatten().collect()));
                }
                made?
            }
            Node::Concat(mut nodes) => {
                let end = nodes.pop()?;
                if !nodes.iter().all(is_sole) {
                    return None;
                }
                nodes.push(self.atomic(end)?);
                Node::Concat(nodes)
            }
            Node::Repeat { child, least, most, greedy } if is_sole(&child) => {
                self.repeat(*child, least, most, greedy)?
            }
            _ => return None,
        };
        Some(Node::Sole(Box::new(made)))
    }

    /// `(?>child{least,most})` for a child that is sole.
    fn repeat(&mut self, child: Node, least: u32, most: Option<u32>, greedy: bool) -> Option<Node> {
        let times = |least, most| Node::Repeat { child: Box::new(child.clone()), least, most, greedy: true };
        if !greedy {
            return Some(times(least, Some(least)));
        }
        let no_more = look(child.clone(), true);
        let Some(most) = most else {
            return Some(Node::Concat(vec![times(least, None), no_more]));
        };
        let mut more = Node::Empty;
        for _ in least..most {
            self.left = self.left.checked_sub(2 * count(&child) + 2)?;
            more = Node::Alt(vec![Node::Concat(vec![child.clone(), more]), no_more.clone()]);
        }
        Some(Node::Concat(vec![times(least, Some(least)), more]))
    }
}

/// Whether all matches of `node` from one place surely end at the same place.
fn is_sole(node: &Node) -> bool {
    length(node).is_some()
        || match node {
            Node::Sole(_) => true,
            Node::Concat(nodes) => nodes.iter().all(is_sole),
            Node::Alt(nodes) => nodes.iter().all(is_sole) && exclude_each_other(nodes),
            Node::Repeat { child, least, most, .. } => Some(*least) == *most && is_sole(child),
            _ => false,
        }
}

/// Whether no two of `nodes` surely match at one place, for they begin with other characters.
fn exclude_each_other(nodes: &[Node]) -> bool {
    let mut all = ClassUnicode::empty();
    nodes.iter().all(|node| {
        first(node).is_some_and(|set| {
            let mut both = all.clone();
            both.intersect(&set);
            all.union(&set);
            both.ranges().is_empty()
        })
    })
}

/// Characters with one of which every match of `node` begins, if none is empty.
fn first(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::One(set) => Some(set.clone()),
        Node::Concat(nodes) => first(nodes.iter().find(|node| length(node) != Some(0))?),
        Node::Alt(nodes) => nodes.iter().try_fold(ClassUnicode::empty(), |mut all, node| {
            all.union(&first(node)?);
            Some(all)
        }),
        Node::Repeat { child, least, .. } if *least > 0 => first(child),
        Node::Sole(node) => first(node),
        _ => None,
    }
}

/// How many characters every match of `node` takes, if that is one number.
fn length(node: &Node) -> Option<u32> {
    match node {
        Node::Empty | Node::Near { .. } | Node::Far { .. } => Some(0),
        Node::One(_) => Some(1),
        Node::Concat(nodes) => nodes.iter().try_fold(0u32, |sum, node| sum.checked_add(length(node)?)),
        Node::Alt(nodes) => {
            let first = length(nodes.first()?)?;
            nodes.iter().all(|node| length(node) == Some(first)).then_some(first)
        }
        Node::Repeat { child, least, most, .. } => {
            if *most == Some(*least) {
                length(child)?.checked_mul(*least)
            } else {
                None
            }
        }
        Node::Sole(node) => length(node),
    }
}

/// Whether `node` may match without taking a character.
fn can_be_empty(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Near { .. } | Node::Far { .. } => true,
        Node::One(_) => false,
        Node::Concat(nodes) => nodes.iter().all(can_be_empty),
        Node::Alt(nodes) => nodes.iter().any(can_be_empty),
        Node::Repeat { child, least, .. } => *least == 0 || can_be_empty(child),
        Node::Sole(node) => can_be_empty(node),
    }
}

/// `(?=node)` or `(?!node)`.
fn look(node: Node, negated: bool) -> Node {
    match characters(&node) {
        Some(set) if negated => Node::Near { behind: false, set: complement(set), edge: true },
        Some(set) => Node::Near { behind: false, set, edge: false },
        None => Node::Far { tree: Box::new(node), negated },
    }
}

/// `(?<=node)` or `(?<!node)`, if it is one character.
fn behind(node: &Node, negated: bool) -> Option<Node> {
    let set = characters(node)?;
    let set = if negated { complement(set) } else { set };
    Some(Node::Near { behind: true, set, edge: negated })
}

/// The characters that `node` matches, if it always takes exactly one and asks for nothing else.
fn characters(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::One(set) => Some(set.clone()),
        Node::Sole(node) => characters(node),
        Node::Concat(nodes) if nodes.len() == 1 => characters(&nodes[0]),
        Node::Alt(nodes) => nodes.iter().try_fold(ClassUnicode::empty(), |mut all, node| {
            all.union(&characters(node)?);
            Some(all)
        }),
        _ => None,
    }
}

fn assertion_node(assertion: &Assertion) -> Option<Node> {
    let near = |behind, set, edge| Node::Near { behind, set, edge };
    let none = ClassUnicode::empty;
    let line_end = || set(&[('\n', '\n')]);
    Some(match assertion {
        Assertion::StartText => near(true, none(), true),
        Assertion::EndText => near(false, none(), true),
        Assertion::StartLine { crlf: false } => near(true, line_end(), true),
        Assertion::EndLine { crlf: false } => near(false, line_end(), true),
        Assertion::WordBoundary | Assertion::NotWordBoundary => {
            let word = characters(&parsed(r"\w")?)?;
            let other = complement(word.clone());
            let same = matches!(assertion, Assertion::NotWordBoundary);
            // A word behind, then no word behind.
            let (first, second) = if same {
                (near(false, word.clone(), false), near(false, other.clone(), true))
            } else {
                (near(false, other.clone(), true), near(false, word.clone(), false))
            };
            Node::Alt(vec![
                Node::Concat(vec![near(true, word, false), first]),
                Node::Concat(vec![near(true, other, true), second]),
            ])
        }
        _ => return None,
    })
}

/// `.`
fn any(newline: bool, crlf: bool) -> ClassUnicode {
    match (newline, crlf) {
        (true, _) => complement(ClassUnicode::empty()),
        (false, false) => complement(set(&[('\n', '\n')])),
        (false, true) => complement(set(&[('\n', '\n'), ('\r', '\r')])),
    }
}

fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last)))
}

fn complement(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// What the parser of `regex-syntax` makes of classes and literals.
fn parsed(pattern: &str) -> Option<Node> {
    of_hir(&regex_syntax::parse(pattern).ok()?)
}

fn of_hir(hir: &Hir) -> Option<Node> {
    Some(match hir.kind() {
        HirKind::Empty => Node::Empty,
        HirKind::Class(Class::Unicode(set)) => Node::One(set.clone()),
        HirKind::Class(Class::Bytes(set)) => Node::One(set.to_unicode_class()?),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            Node::Concat(text.chars().map(|c| Node::One(set(&[(c, c)]))).collect())
        }
        HirKind::Concat(parts) => Node::Concat(parts.iter().map(of_hir).collect::<Option<_>>()?),
        HirKind::Alternation(branches) => Node::Alt(branches.iter().map(of_hir).collect::<Option<_>>()?),
        _ => return None,
    })
}
