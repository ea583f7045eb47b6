import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { orElse } from '../shared/or-else.ts';

/** Variables with which the gateway signs in at Apple as the team. All are set, or none. */
const appleVariables = ['APPLE_TEAM_ID', 'APPLE_KEY_ID', 'APPLE_PRIVATE_KEY', 'APPLE_CLIENT_IDS'] as const;

/** Id of a team or a key, from the Apple developer account. */
export const appleId = z
  .string()
  .regex(/^[A-Z0-9]{10}$/, 'must be the 10 capital letters and digits of the Apple developer account')
  .optional();

/** Tells whether a text is a private key for ES256, the only algorithm of Apple's client secrets. */
const isPrivateKey = (pem: string) =>
  orElse(() => createPrivateKey(pem).asymmetricKeyDetails?.namedCurve, undefined) === 'prime256v1';

/** Key of the .p8 file as PEM. Its line ends may be written as \n, for settings that have only one line. */
export const applePrivateKey = z
  .string()
  .transform((value) => value.replaceAll('\\n', '\n'))
  .refine(isPrivateKey, 'must be the text of the .p8 file from the Apple developer account')
  .optional();

/** Bundle ids and Services IDs. The first one is the default. */
export const appleClientIds = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((part) => part !== ''))
  .refine(
    (ids) => ids.length > 0 && ids.every((id) => /^[\w.-]+$/.test(id)),
    'must be a comma-separated list of bundle ids and Services IDs, such as com.example.sounds',
  )
  .optional();

/** Returns a problem for each variable that is missing although others of Apple are set. */
export function incompleteApple(env: Readonly<Record<string, string | undefined>>): string[] {
  const isSet = (name: string) => Boolean(env[name]?.trim());
  const missing = appleVariables.filter((name) => !isSet(name));
  if (missing.length === appleVariables.length) return [];
  return missing.map(
    (name) => `${name} must be set, because others of Apple are: set ${appleVariables.join(', ')}, or none of them.`,
  );
}
