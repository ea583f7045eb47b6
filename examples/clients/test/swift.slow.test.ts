/** @module-tag swift */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { expect } from 'vitest';
import { addSound } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { startNetwork } from '../../../test/support/network.ts';
import { password, signUp, test } from '../../../test/support/test.ts';

/** Returns the code of the page that does not need the frameworks of Apple. */
async function codeOfPage() {
  const page = await readFile('examples/clients/swift.md', 'utf8');
  const blocks = [...page.matchAll(/(?<=```swift\n).*?(?=\n```)/gs)].map(String);
  const needsApple = /^import (Security|AuthenticationServices)$|Keychain\(\)/m;
  return blocks
    .filter((block) => !needsApple.test(block))
    .join('\n\n')
    .replaceAll(/^import (?!Foundation).*\n/gm, '');
}

test.for(['5', '6'])(
  'the code of swift.md compiles as Swift %s and completes the calls of an app',
  { timeout: 5 * 60_000 },
  async (version, { gateway, api, sql }) => {
    const work = await mkdtemp(join(tmpdir(), 'sounds-service-swift-'));
    const run = promisify(execFile);
    try {
      const frame = await readFile('examples/clients/Guide.swift', 'utf8');
      const code = await codeOfPage();
      await writeFile(
        join(work, 'Guide.swift'),
        frame.replace('// THE CODE OF swift.md', () => code),
      );
      const options = `-swift-version ${version} -warnings-as-errors -parse-as-library Guide.swift -o guide`;
      await run('swiftc', options.split(' '), { cwd: work });

      await addSound(sql, { title: 'Bell' });
      const audio_path = await storeFile('audio', 'clients/swift.mp3', 'audio/mpeg', 'sound'.repeat(1000));
      const song = await addSound(sql, { title: 'Song', audio_path });
      const locked = await addSound(sql, { title: 'Locked', audio_path, is_premium: true, sort_order: 100 });
      const { email } = (await signUp(api)).user;
      const identity = [await makeIdToken({ email, provider: 'apple', nonce: 'n-0S6_WzA2Mj' }), 'n-0S6_WzA2Mj'];
      const { origin, pathname } = new URL(gateway.url);
      const network = await startNetwork(origin, () => undefined);
      const count = (await sql`select from public.sounds`).length;
      const args = [network.url + pathname, email, password, song, ...identity, String(count), locked];
      await run(join(work, 'guide'), args, { cwd: work });
      expect(network.passed.filter(({ path }) => path.endsWith('/auth/refresh'))).toHaveLength(2);
    } finally {
      await rm(work, { recursive: true });
    }
  },
);
