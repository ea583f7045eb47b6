import { describe } from 'vitest';
import { type Loaded, SIZE, testPlans, withStatistics } from './plans.ts';

// A plan depends on what the planner knows: each query is also tried on PostgreSQL 15, which hosted projects may have, and where one
// user has all favorites.

describe.for<[string, () => Promise<Loaded>]>([
  ['on PostgreSQL 15', () => withStatistics(SIZE, 15)],
  ['where one user has all favorites', () => withStatistics({ ...SIZE, favorites: 0 })],
])('%s', ([, load]) => testPlans(load));
