import { testPlans } from './plans.ts';

testPlans('on PostgreSQL 17');
