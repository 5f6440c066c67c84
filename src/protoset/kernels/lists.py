"""Kernels on neighbour lists stored as compressed rows (indptr, indices, distances)."""

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.ties import nearest_by_majority


@part
def _push_smallest(heap, value):
    """Replace the root of a max-heap and restore the heap."""
    size = heap.shape[0]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = value


@part
def sort_pairs(distances, indices, spare_distances, spare_indices):
    """Merge sort by (distance, index), in place; NumPy's sorts take seconds to compile."""
    size = distances.shape[0]
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            left, middle, right = start, start + width, start + 2 * width
            middle, right = middle if middle < size else size, right if right < size else size
            other = middle
            for target in range(start, right):
                if other >= right or (
                    left < middle
                    and (
                        distances[left] < distances[other]
                        or (distances[left] == distances[other] and indices[left] < indices[other])
                    )
                ):
                    spare_distances[target], spare_indices[target] = distances[left], indices[left]
                    left += 1
                else:
                    spare_distances[target], spare_indices[target] = distances[other], indices[other]
                    other += 1
        for target in range(size):
            distances[target], indices[target] = spare_distances[target], spare_indices[target]
        width *= 2


@part
def ascending(values):
    """Positions of the values in ascending order; equal values by position."""
    size = values.shape[0]
    spare_values, spare_order = np.empty(size), np.empty(size, np.int32)
    sorted_values, order = np.empty(size), np.empty(size, np.int32)
    for position in range(size):
        sorted_values[position], order[position] = values[position], position
    sort_pairs(sorted_values, order, spare_values, spare_order)
    return order


@compiled(inline="always")
def sort_rows(indptr, indices, distances):
    """Sort each row by (distance, index), in place."""
    longest = 0
    for row in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    spare_distances, spare_indices = np.empty(longest, distances.dtype), np.empty(longest, indices.dtype)
    for row in range(indptr.shape[0] - 1):
        start, stop = indptr[row], indptr[row + 1]
        sort_pairs(distances[start:stop], indices[start:stop], spare_distances, spare_indices)


@compiled
def kth_smallest(block, own, k):
    """K-th smallest entry of each row outside the column ``own``, and the numbers of entries below and equal to it."""
    n_rows, n_columns = block.shape
    threshold = np.empty(n_rows)
    n_below = np.zeros(n_rows, np.int64)
    n_at = np.zeros(n_rows, np.int64)
    heap = np.empty(k)
    for row in range(n_rows):
        heap[:] = np.inf
        for column in range(n_columns):
            if block[row, column] < heap[0] and column != own[row]:
                _push_smallest(heap, block[row, column])
        threshold[row] = heap[0]
        for column in range(n_columns):
            if column != own[row]:
                if block[row, column] < heap[0]:
                    n_below[row] += 1
                elif block[row, column] == heap[0]:
                    n_at[row] += 1
    return threshold, n_below, n_at


@compiled
def gather_smallest(block, own, threshold, n_below, indptr, indices, distances):
    """Fill the rows with all entries up to the threshold, by (distance, index).

    Where a row has no room for all ties at the threshold, the lowest indices are kept.
    """
    for row in range(block.shape[0]):
        start, stop = indptr[row], indptr[row + 1]
        room_at = stop - start - n_below[row]
        end = start
        for column in range(block.shape[1]):
            value = block[row, column]
            if column == own[row] or value > threshold[row]:
                continue
            if value == threshold[row]:
                if room_at == 0:
                    continue
                room_at -= 1
            indices[end] = column
            distances[end] = value
            end += 1
    sort_rows(indptr, indices, distances)


@compiled
def rank_copies(indptr, indices, distances, counts, ties):
    """Ranks within each sorted row where each object has ``counts`` copies, and the rank of an object's own copies.

    A rank is 1 plus the number of nearer copies. The other copies of a row's own object are at distance 0. Copies of an
    object have the same rank; ``ties`` says how objects at equal distances rank, as in ``protoset._arrays.rank_rows``.
    """
    ranks, own_ranks = np.empty(distances.shape[0]), np.empty(indptr.shape[0] - 1)
    for row in range(indptr.shape[0] - 1):
        first, stop, own = indptr[row], indptr[row + 1], max(counts[row] - 1.0, 0.0)
        nearer, own_is_counted, own_ranks[row] = 0.0, False, 1.0
        if ties == 1:
            own_ranks[row] = 0.5 * (own + 1.0)
        while first < stop:
            end = first + 1
            while end < stop and distances[end] == distances[first]:
                end += 1
            if not own_is_counted and (distances[first] > 0 or ties == 2):
                nearer, own_is_counted = own, True
            tied = 0.0 if own_is_counted else own
            for entry in range(first, end):
                ranks[entry] = nearer + 1.0
                if ties == 2:
                    nearer += counts[indices[entry]]
                else:
                    tied += counts[indices[entry]]
            if ties == 1:
                ranks[first:end] = nearer + 0.5 * (tied + 1.0)
                if not own_is_counted:
                    own_ranks[row] = ranks[first]
            nearer, own_is_counted, first = nearer + (0.0 if ties == 2 else tied), True, end
    return ranks, own_ranks


@compiled
def first_members(indptr, indices, rows, member, k):
    """The first k listed objects that are members, for each of ``rows``; -1 where the list has no more."""
    listed = np.full((rows.shape[0], k), -1, np.int64)
    for position in range(rows.shape[0]):
        count = 0
        for entry in range(indptr[rows[position]], indptr[rows[position] + 1]):
            if member[indices[entry]]:
                listed[position, count] = indices[entry]
                count += 1
                if count == k:
                    break
    return listed


@compiled
def nearest_members(indptr, indices, distances, closed, rows, member, codes, counts, class_totals):
    """Nearest listed member of each of ``rows``; an object that is a member is its own nearest, at distance 0.

    Ties go by the majority of the labels, see ``protoset.kernels.ties``. -1 where the list holds no member, or may lack
    some at the distance of the nearest.
    """
    longest = 1
    for row in rows:
        longest = max(longest, indptr[row + 1] - indptr[row] + 1)
    tied, nothing = np.empty(longest, np.int64), np.zeros((1, longest))
    winners = np.full(rows.shape[0], -1, np.int64)
    for position, row in enumerate(rows):
        n_tied, nearest, stop = 0, 0.0, indptr[row + 1]
        if member[row]:
            tied[0], n_tied = row, 1
        for entry in range(indptr[row], stop):
            if n_tied > 0 and distances[entry] > nearest:
                break
            if member[indices[entry]]:
                nearest, tied[n_tied], n_tied = distances[entry], indices[entry], n_tied + 1
        if n_tied == 0 or (not closed[row] and stop > indptr[row] and distances[stop - 1] == nearest):
            continue
        winner = 0
        if n_tied > 1:
            among = tied[:n_tied]
            winner = nearest_by_majority(nothing[:, :n_tied], codes[among], counts[among], class_totals)[0]
        winners[position] = tied[winner]
    return winners


@compiled
def listed_by(lists):
    """Reverse lists: the objects that list each object, and at which position, as compressed rows."""
    n, length = lists.shape
    indptr = np.zeros(n + 1, np.int64)
    for own in range(n):
        for entry in range(length):
            indptr[lists[own, entry] + 1] += 1
    for own in range(n):
        indptr[own + 1] += indptr[own]
    end = indptr[:-1].copy()
    rows, positions = np.empty(n * length, np.int32), np.empty(n * length, np.int32)
    for own in range(n):
        for entry in range(length):
            target = end[lists[own, entry]]
            rows[target], positions[target] = own, entry
            end[lists[own, entry]] += 1
    return indptr, rows, positions


@compiled
def keep_smallest(block, own, nearest):
    """Merge the smallest entries of each row of a block into ``nearest``, ascending; the column ``own`` is left out."""
    k = nearest.shape[1]
    for row in range(block.shape[0]):
        values, kept = block[row], nearest[row]
        last = kept[k - 1]
        for column in range(block.shape[1]):
            if values[column] < last and column != own[row]:
                hole = k - 1
                while hole > 0 and kept[hole - 1] > values[column]:
                    kept[hole] = kept[hole - 1]
                    hole -= 1
                kept[hole] = values[column]
                last = kept[k - 1]


@compiled
def nearest_distinct(indptr, indices, distances, k):
    """The k nearest distinct entries of each row by (distance, index); sorts the rows in place.

    An index that a row holds several times has the same distance each time.
    """
    sort_rows(indptr, indices, distances)
    n = indptr.shape[0] - 1
    new_indptr = np.zeros(n + 1, np.int64)
    new_indices, new_distances = np.empty_like(indices), np.empty_like(distances)
    end = 0
    for row in range(n):
        start = indptr[row]
        for entry in range(start, indptr[row + 1]):
            if end - new_indptr[row] == k:
                break
            if entry == start or indices[entry] != indices[entry - 1]:
                new_indices[end], new_distances[end] = indices[entry], distances[entry]
                end += 1
        new_indptr[row + 1] = end
    return new_indptr, new_indices[:end].copy(), new_distances[:end].copy()
