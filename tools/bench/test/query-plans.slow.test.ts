import { testPlans } from './plans.ts';

// Plans depend on the release and on statistics. Hosted projects may have PostgreSQL 15.
testPlans('on PostgreSQL 15', { release: 15, sounds: 20_000 }); // prefers some indexes only in larger tables
testPlans('where one user has all favorites', { favorites: 0 });
