import { pino } from 'pino';
import { createLimiters } from '../limits/limiters.ts';
import { createTrustedClients } from '../limits/trusted-clients.ts';
import { connectRedis } from '../redis.ts';
import type { Check } from './check.ts';
import { NotChecked, Problem } from './problem.ts';

export const redis: Check = {
  name: 'Redis',
  needs: [],
  async execute({ config }) {
    const { redisUrl } = config.secrets;
    if (redisUrl === null) throw new NotChecked('REDIS_URL is not set: each gateway limits by itself.');
    const shared = connectRedis(redisUrl, pino({ level: 'silent' }));
    // The limiters add their own checks of Redis.
    createLimiters({
      config,
      trustedClients: createTrustedClients(shared),
      activeKeys: new Set(),
      redis: shared,
      metrics: null,
    });
    await shared.settled;
    const problem = shared.problem();
    shared.close();
    if (problem === null) return 'It counts the limits.';
    throw new Problem(
      `Redis ${problem}.`,
      'Check that Redis is running, that REDIS_URL has its host, port and password (rediss:// for TLS), and that no firewall blocks this machine.',
    );
  },
};
