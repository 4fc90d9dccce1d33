//! The places of one pair: a few of them lie in the pair itself.
//!
//! Most pairs that are frequent enough stand in few distinct pieces. Leaves out whether a place still holds (`pairs`).

/// So many places need no memory of their own.
const FEW: usize = 3;

/// Places, in the order in which they came.
#[derive(Debug)]
pub(super) enum PlaceList {
    /// The first so many.
    Few(u8, [u32; FEW]),
    Many(Vec<u32>),
}

impl Default for PlaceList {
    fn default() -> PlaceList {
        PlaceList::Few(0, [0; FEW])
    }
}

impl PlaceList {
    /// An empty list with room for `count`.
    pub fn with_capacity(count: usize) -> PlaceList {
        if count > FEW { PlaceList::Many(Vec::with_capacity(count)) } else { PlaceList::default() }
    }

    /// So many zeros.
    pub fn zeros(count: usize) -> PlaceList {
        match u8::try_from(count) {
            Ok(few) if count <= FEW => PlaceList::Few(few, [0; FEW]),
            _ => PlaceList::Many(vec![0; count]),
        }
    }

    #[inline]
    pub fn push(&mut self, place: u32) {
        match self {
            PlaceList::Many(places) => places.push(place),
            PlaceList::Few(len, places) if usize::from(*len) < FEW => {
                places[usize::from(*len)] = place;
                *len += 1;
            }
            PlaceList::Few(_, places) => {
                let mut many = Vec::with_capacity(2 * FEW);
                many.extend_from_slice(places);
                many.push(place);
                *self = PlaceList::Many(many);
            }
        }
    }

    #[inline]
    pub fn as_slice(&self) -> &[u32] {
        match self {
            PlaceList::Few(len, places) => &places[..usize::from(*len)],
            PlaceList::Many(places) => places,
        }
    }

    pub fn as_mut_slice(&mut self) -> &mut [u32] {
        match self {
            PlaceList::Few(len, places) => &mut places[..usize::from(*len)],
            PlaceList::Many(places) => places,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Those for which `f` holds; gives memory back.
    pub fn retain(&mut self, mut f: impl FnMut(u32) -> bool) {
        let kept: Vec<u32> = self.as_slice().iter().copied().filter(|&place| f(place)).collect();
        *self = kept.into();
    }
}

impl From<Vec<u32>> for PlaceList {
    fn from(mut places: Vec<u32>) -> PlaceList {
        if places.len() > FEW {
            places.shrink_to_fit();
            return PlaceList::Many(places);
        }
        let mut list = PlaceList::default();
        places.into_iter().for_each(|place| list.push(place));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_lengths_hold_what_is_pushed() {
        // As long as a vector, where addresses have eight bytes.
        if cfg!(target_pointer_width = "64") {
            assert_eq!(size_of::<PlaceList>(), size_of::<Vec<u32>>());
        }
        for count in 0..20u32 {
            for room in [0, count as usize, 30] {
                let mut list = PlaceList::with_capacity(room);
                (0..count).for_each(|place| list.push(7 * place));
                let plain: Vec<u32> = (0..count).map(|place| 7 * place).collect();
                assert_eq!((list.as_slice(), list.len()), (&*plain, plain.len()));
                assert_eq!(PlaceList::from(plain.clone()).as_slice(), plain);
                let zeros = vec![0; plain.len()];
                assert_eq!(PlaceList::zeros(plain.len()).as_mut_slice(), zeros);
                list.retain(|place| place % 2 == 1);
                let odd: Vec<u32> = plain.into_iter().filter(|place| place % 2 == 1).collect();
                assert_eq!(list.as_slice(), odd);
            }
        }
    }
}
