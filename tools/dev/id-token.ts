import { parseArgs } from 'node:util';
import { idTokenProviders, makeIdToken, type Provider } from '@sounds-service/local-supabase/identity-provider';

// `npm run -s id-token -- --email ada@example.com` prints an ID token that only the stack of `npm run dev` accepts.

const usage = `Usage: npm run -s id-token -- --email ada@example.com
    [--provider google|apple] [--name "Ada"] [--picture https://…] [--sub …] [--nonce <raw>] [--unverified]

Where addresses need no confirmation, as in npm run dev, Auth treats unverified ones as verified.`;

/** Returns the token, or the usage for --help. */
function answer(args: string[]): string | Promise<string> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      email: text,
      provider: { ...text, default: 'google' },
      name: text,
      picture: text,
      sub: text,
      nonce: text,
      unverified: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  const { provider, unverified, help, ...rest } = values;
  if (help) return usage;
  if (!rest.email) throw new Error('Specify --email.');
  if (!isProvider(provider)) throw new Error('--provider must be google or apple.');
  if (provider === 'apple' && (rest.name || rest.picture)) {
    throw new Error('Apple gives the name only to the app: its ID tokens contain neither --name nor --picture.');
  }
  return makeIdToken({ ...rest, provider, emailVerified: !unverified });
}

function isProvider(name: string): name is Provider {
  return Object.hasOwn(idTokenProviders, name);
}

try {
  console.log(await answer(process.argv.slice(2)));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exitCode = 1;
}
