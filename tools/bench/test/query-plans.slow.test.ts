import { testPlans } from './plans.ts';

// Plans depend on the release and on statistics. Hosted projects may have PostgreSQL 15.
testPlans('on PostgreSQL 17');
// Loads more sounds, because this release prefers some indexes only in larger tables.
testPlans('on PostgreSQL 15 where one user has all favorites', { release: 15, sounds: 20_000, favorites: 0 });
