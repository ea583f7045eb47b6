import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { newEmail, password } from '../../../test/support/test.ts';
import { createSounds } from '../src/index.ts';
import { test } from './device.ts';

const readme = readFileSync('packages/client/README.md', 'utf8');

test('a client works on a server without localStorage, and useUser renders there', async ({ gateway }) => {
  for (const store of [undefined, {} as Storage]) {
    const api = createSounds({ url: gateway.url, store });
    const [code = ''] = /function useUser.*?\n}/s.exec(readme) ?? [];
    const render = (useSyncExternalStore: object) =>
      new Function('api', 'useSyncExternalStore', `${code} return useUser();`)(api, useSyncExternalStore);
    expect(render((_subscribe: object, _user: object, onServer: () => unknown) => onServer())).toBeUndefined();
    expect(render((_subscribe: object, user: () => unknown) => user())).toBeUndefined();
    expect(await api.auth.user()).toBeNull();
    const { user } = await api.auth.signUp({ email: newEmail(), password });
    await api.favorites.add(crypto.randomUUID());
    expect(await api.me()).toMatchObject({ id: user.id });
    expect(await api.offline.list()).toEqual([]);
    await expect.poll(() => render((_subscribe: object, current: () => unknown) => current())).toEqual(user);
  }
});
