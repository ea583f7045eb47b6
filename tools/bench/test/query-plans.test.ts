import { describe } from 'vitest';
import { SIZE, testPlans, withStatistics } from './plans.ts';

describe('with fresh statistics', () => testPlans(() => withStatistics(SIZE)));
