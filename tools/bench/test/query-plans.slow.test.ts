import { testPlans } from './plans.ts';

// Plans depend on the release and on statistics. Hosted projects may have PostgreSQL 15.
testPlans('on PostgreSQL 15', { release: 15 });
testPlans('where one user has all favorites', { favorites: 0 });
