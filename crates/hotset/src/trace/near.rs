//! Leaves out requests of objects that were requested just before (Smith's stack deletion).
use trace::Batch;

/// Passes on requests whose page is none of the last pages.
pub struct Near {
    /// The last pages, latest first.
    pages: Vec<u64>,
    most: usize,
}

impl Near {
    /// Leaves out requests of the last `most` pages.
    pub fn new(most: u16) -> Near {
        Near {
            pages: Vec::with_capacity(most.into()),
            most: most.into(),
        }
    }

    fn is_new(&mut self, page: u64) -> bool {
        let place = self.pages.iter().position(|one| *one == page);
        match place {
            Some(place) => self.pages[..=place].rotate_right(1),
            None => {
                self.pages.truncate(self.most - 1);
                self.pages.insert(0, page);
            }
        }
        place.is_none()
    }

    /// Puts the requests of a batch that are passed on into `kept`.
    pub fn keep(&mut self, batch: &Batch, kept: &mut Batch) {
        kept.ids.clear();
        kept.flags.clear();
        kept.times.clear();
        kept.sizes.clear();
        for (at, &page) in batch.ids.iter().enumerate() {
            if self.is_new(page) {
                kept.ids.push(page);
                // Columns that the format does not have are empty.
                kept.flags.extend(batch.flags.get(at));
                kept.times.extend(batch.times.get(at));
                kept.sizes.extend(batch.sizes.get(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(most: u16, pages: &[u64]) -> Vec<u64> {
        let mut near = Near::new(most);
        let pages = pages.iter().copied();
        pages.filter(|page| near.is_new(*page)).collect()
    }

    #[test]
    fn requests_of_the_last_pages_are_left_out() {
        let pages = [1, 1, 2, 1, 2, 2, 3, 2, 1, 3];
        assert_eq!(kept(1, &pages), [1, 2, 1, 2, 3, 2, 1, 3]);
        assert_eq!(kept(2, &pages), [1, 2, 3, 1, 3]);
        assert_eq!(kept(3, &pages), [1, 2, 3]);
    }

    #[test]
    fn columns_of_a_request_stay_with_it() {
        let batch = Batch {
            ids: vec![5, 5, 6],
            times: vec![0.5, 1.5, 2.5],
            ..Batch::default()
        };
        let mut left = Batch::default();
        Near::new(1).keep(&batch, &mut left);
        assert_eq!((left.ids, left.times), (vec![5, 6], vec![0.5, 2.5]));
        assert!(left.flags.is_empty() && left.sizes.is_empty());
    }
}
