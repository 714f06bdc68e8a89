// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashSet;

/// Includes the start nodes. `next` returns the successors.
pub(crate) fn reachable<T: Copy + Eq + Hash, N: IntoIterator<Item = T>>(
    from: impl IntoIterator<Item = T>,
    mut next: impl FnMut(T) -> N,
) -> FxHashSet<T> {
    let mut found: FxHashSet<T> = from.into_iter().collect();
    let mut queue: Vec<T> = found.iter().copied().collect();
    while let Some(at) = queue.pop() {
        queue.extend(next(at).into_iter().filter(|&to| found.insert(to)));
    }
    found
}

pub(crate) fn leads<T: Copy + Eq + Hash, N: IntoIterator<Item = T>>(
    from: T,
    to: T,
    mut next: impl FnMut(T) -> N,
) -> bool {
    let mut queue = VecDeque::from([from]);
    let mut seen: FxHashSet<T> = [from].into_iter().collect();
    while let Some(at) = queue.pop_front() {
        if at == to {
            return true;
        }
        queue.extend(next(at).into_iter().filter(|&to| seen.insert(to)));
    }
    false
}

/// Strongly connected components, callees before callers (Tarjan, without recursion).
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if index[root] != NEW {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, next)) = work.pop() {
            if next == 0 {
                (index[node], low[node]) = (counter, counter);
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&to) = edges[node].get(next) {
                work.push((node, next + 1));
                if index[to] == NEW {
                    work.push((to, 0));
                } else if on_stack[to] {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found() {
        let edges = vec![vec![1], vec![2, 3], vec![1], vec![]];
        let mut found = components(&edges);
        found
            .iter_mut()
            .for_each(|component| component.sort_unstable());
        assert_eq!(found, [vec![3], vec![1, 2], vec![0]]);
        let long: Vec<Vec<usize>> = (1..200_000).map(|to| vec![to]).chain([vec![]]).collect();
        assert_eq!(components(&long).len(), 200_000);
    }
}
