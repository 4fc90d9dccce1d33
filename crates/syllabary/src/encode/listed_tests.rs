//! Strings side by side, in every way, beside a loop that merges one.

use super::*;
use crate::{
    drawn::{drawing, drawn},
    merge::Merge,
};

/// The lowest rank first, leftmost.
fn by_the_rule(mut ids: Vec<u32>, list: &PairTable) -> Vec<u32> {
    loop {
        let merges = ids.windows(2).enumerate().filter_map(|(at, pair)| {
            let merge = list.get(pair[0], pair[1])?;
            Some((merge.rank, at, merge.id))
        });
        let Some((_, at, id)) = merges.min() else { return ids };
        ids.splice(at..at + 2, [id]);
    }
}

#[test]
fn many_at_once_are_each_alone() {
    let mut draw = drawing(23);
    let mut merged = 0;
    for round in 0..drawn(300, 3000) {
        let symbols = 1 + round % 6;
        let mut list = PairTable::for_many(60);
        // A merge may make what stands in earlier ones, and the same from several pairs.
        for rank in 0..draw(60) as u32 {
            let mut symbol = || draw(2 * symbols) as u32;
            list.insert((symbol(), symbol()), Merge { rank, id: symbol() });
        }
        let mut strings = Strings::default();
        let all: Vec<Vec<u32>> = (0..draw(40))
            .map(|_| {
                let most = [4, PLACES][draw(2)];
                (0..1 + draw(most)).map(|_| draw(symbols) as u32).collect()
            })
            .collect();
        all.iter().for_each(|string| strings.push(string));
        let pairs: Vec<_> = list.iter().collect();
        let firsts = Firsts::new(&pairs);
        for (is_narrow, firsts) in
            [(true, None), (false, None), (true, Some(&firsts)), (false, Some(&firsts))]
        {
            let list = Listed { pairs: &list, firsts };
            let mut found = vec![None; all.len()];
            let mut done = |number: usize, ids: &[u32]| assert_eq!(found[number].replace(ids.to_vec()), None);
            match is_narrow {
                true => merge_all(&strings, list, &mut done),
                false => run(&strings, list, None, &mut done),
            }
            for (string, found) in all.iter().zip(found) {
                let expected = by_the_rule(string.clone(), list.pairs);
                merged += string.len() - expected.len();
                assert_eq!(found, Some(expected), "{string:?}");
            }
        }
    }
    assert!(merged > drawn(40_000, 400_000), "{merged}");
}
