import type { Logger } from 'pino';
import type { Metrics } from '../../shared/metrics.ts';
import type { CodeType } from './auth.ts';

/** Returns a function that logs why Auth sent no mail. The client must not learn the reason. */
export const mailNotSent = (metrics: Metrics | null, log: Logger, type: CodeType) => (why: object) => {
  metrics?.mailsNotSent.inc();
  log.warn({ ...why, type }, 'Supabase Auth sent no mail');
};
