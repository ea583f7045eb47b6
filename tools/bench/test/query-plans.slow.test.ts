import { testPlans } from './plans.ts';

// A plan depends on what the planner knows. Hosted projects may have PostgreSQL 15.
testPlans('on PostgreSQL 15', { release: 15 });
testPlans('where one user has all favorites', { favorites: 0 });
