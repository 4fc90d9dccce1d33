//! Tests of `tally`.

use std::collections::BTreeMap;

use super::*;

fn listed(tally: &Tally) -> BTreeMap<Vec<u8>, (u64, u64)> {
    let mut found = BTreeMap::new();
    tally
        .each(&mut |counted| {
            assert_eq!(None, found.insert(counted.piece.to_vec(), (counted.count, counted.first)));
            Ok(())
        })
        .unwrap();
    assert_eq!(tally.len(), found.len());
    found
}

#[test]
fn counts_pieces_of_every_length_at_every_place() {
    let text: Vec<u8> = (0..1_500u32).map(|n| (n * n / 7) as u8 % 3).collect();
    let (mut tally, mut expected) = (Tally::default(), BTreeMap::<Vec<u8>, (u64, u64)>::new());
    for (first, (start, length)) in
        (0..text.len()).flat_map(|start| [(start, start % 37), (start, 3)]).enumerate()
    {
        let end = (start + length).min(text.len());
        tally.add(&text, start, end, 1, first as u64).unwrap();
        expected.entry(text[start..end].to_vec()).or_insert((0, first as u64)).0 += 1;
    }
    assert_eq!(expected, listed(&tally));
}

#[test]
fn a_sum_keeps_the_first_place_and_counts_past_32_bits() {
    let long = b"a piece of more than fifteen bytes";
    let (mut one, mut two) = (Tally::default(), Tally::default());
    one.add(b"b", 0, 1, u64::from(u32::MAX), 7).unwrap();
    one.add(long, 0, long.len(), 1, 9).unwrap();
    two.add(b"b", 0, 1, 5, 3).unwrap();
    two.add(long, 0, long.len(), 1 << 40, 11).unwrap();
    two.add(b"", 0, 0, 1, 12).unwrap();
    one.merge(&two, &mut || true).unwrap();
    let expected = [
        (b"b".to_vec(), (u64::from(u32::MAX) + 5, 3)),
        (long.to_vec(), ((1 << 40) + 1, 9)),
        (b"".to_vec(), (1, 12)),
    ];
    assert_eq!(BTreeMap::from(expected), listed(&one));
}

#[test]
fn pieces_come_in_the_order_asked_for() {
    let mut tally = Tally::default();
    for (first, (piece, count)) in [(3, ("c", 2)), (1, ("b", 1)), (2, ("a", 5)), (0, ("d", 1))] {
        tally.add(piece.as_bytes(), 0, 1, count, first).unwrap();
    }
    let mut orders = [String::new(), String::new(), String::new()];
    let note = |order: &mut String, counted: Counted<'_>| {
        order.push_str(std::str::from_utf8(counted.piece).unwrap());
        Ok(())
    };
    tally.each_by_first(&mut |counted| note(&mut orders[0], counted)).unwrap();
    tally.each_by_bytes(&mut || true, &mut |counted| note(&mut orders[1], counted)).unwrap();
    tally.each_by_count(&mut |counted| note(&mut orders[2], counted)).unwrap();
    assert_eq!(("dbac", "abcd"), (&*orders[0], &*orders[1]));
    assert!(orders[2].starts_with("ac"));
}

#[test]
fn many_pieces_are_ordered_in_steps_that_can_be_stopped() {
    let (mut tally, pieces) = (Tally::default(), 2000_u64);
    for number in 0..pieces {
        let piece = format!("{:0width$}", number * 7919 % pieces, width = 4 + 14 * (number % 2) as usize);
        tally.add(piece.as_bytes(), 0, piece.len(), 1 + number % 5, number).unwrap();
    }
    let (mut asked, mut ordered) = (0, Vec::new());
    let mut note = |counted: Counted<'_>| {
        ordered.push((u64::MAX - counted.count, counted.piece.to_vec()));
        Ok(())
    };
    let count = &mut || {
        asked += 1;
        true
    };
    tally.each_by(|count| u64::MAX - count, count, &mut note).unwrap();
    assert_eq!((ordered.len() as u64, ordered.is_sorted()), (pieces, true));
    assert!(asked >= pieces / 16, "{asked}");
    let nothing = &mut |_: Counted<'_>| Ok(());
    assert_eq!(Err(Error::Interrupted), tally.each_by_bytes(&mut || false, nothing));
}

#[test]
fn a_sum_of_many_pieces_can_be_stopped() {
    let mut tally = Tally::default();
    for number in 0..60_000_u32 {
        tally.add(&number.to_le_bytes(), 0, 4, 1, 0).unwrap();
    }
    assert_eq!(Err(Error::Interrupted), Tally::default().merge(&tally, &mut || false));
}
