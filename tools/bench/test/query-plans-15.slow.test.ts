import { describe } from 'vitest';
import { SIZE, testPlans, withStatistics } from './plans.ts';

describe('with fresh statistics, on PostgreSQL 15, which hosted projects may have', () =>
  testPlans(() => withStatistics(SIZE, 15)));
