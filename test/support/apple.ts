import type { SmallApple } from '@sounds-service/local-supabase/small-apple';
import { noteSecret } from './secrets.ts';

/** Returns the settings of Apple for a gateway. Records the lines of the key, so that no log may contain them. */
export function appleEnv({ team, privateKey }: Pick<SmallApple, 'team' | 'privateKey'>): Record<string, string> {
  for (const line of privateKey.split('\n').slice(1, -2)) noteSecret(line);
  return {
    APPLE_TEAM_ID: team.teamId,
    APPLE_KEY_ID: team.keyId,
    APPLE_PRIVATE_KEY: privateKey.replaceAll('\n', '\\n'),
    APPLE_CLIENT_IDS: team.clientIds.join(),
  };
}
