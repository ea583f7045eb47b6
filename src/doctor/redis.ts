import { Redis } from 'ioredis';
import { reasonOf } from '../redis.ts';
import type { Check } from './check.ts';
import { NotChecked, Problem } from './problem.ts';

export const redis: Check = {
  name: 'Redis',
  needs: [],
  async execute({ config }) {
    const { redisUrl } = config.secrets;
    if (redisUrl === null) throw new NotChecked('REDIS_URL is not set: each gateway limits by itself.');
    const client = new Redis(redisUrl, {
      lazyConnect: true,
      retryStrategy: () => null,
      connectTimeout: 5_000,
      commandTimeout: 5_000,
    });
    let reason: unknown;
    client.on('error', (error) => {
      reason = error;
    });
    try {
      await client.connect();
      await client.ping();
      return 'It answers.';
    } catch (error) {
      throw new Problem(
        `It cannot be used: ${reasonOf(reason ?? error)}.`,
        'Check that Redis is running, that REDIS_URL has its host, port and password (rediss:// for TLS), and that no firewall blocks this machine.',
      );
    } finally {
      client.disconnect();
    }
  },
};
