import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { apiAt } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { test } from '../support/test.ts';

/** What a gateway logs at every level while it cannot use this Redis. */
async function loggedWith(REDIS_URL: string): Promise<string> {
  const gateway = await startGateway({ REDIS_URL, LOG_LEVEL: 'trace' });
  await expect.poll(() => gateway.logged.join('')).toContain('Redis is out of reach');
  await apiAt(gateway.url).get('/nope').expect(404);
  await gateway.close();
  return gateway.logged.join('');
}

describe('the password of Redis', () => {
  test('is not in the log when it is wrong', async ({ skip }) => {
    skip(!canRunRedis, 'Install redis-server or valkey-server to refuse a password.');
    const redis = await startRedis(undefined, { password: 'the-right-one' });
    const log = await loggedWith(redis.url.replace('//', '//:the-wrong-one@'));
    await redis.stop();
    expect(log).toContain('WRONGPASS');
    expect(log).not.toMatch(/the-wrong-one|AUTH\b/);
  });

  test('is not in the log when what answers does not know passwords, and repeats the command', async () => {
    const server = createServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', () => {
          socket.write(
            "-ERR unknown command 'AUTH', with args beginning with: 'default' 'the-wrong-one'\r\n",
          );
        });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const log = await loggedWith(
      `redis://:the-wrong-one@127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    server.close();
    expect(log).toContain("unknown command 'AUTH'");
    expect(log).not.toContain('the-wrong-one');
  });
});
