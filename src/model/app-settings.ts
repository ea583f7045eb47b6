import { z } from 'zod';

/**
 * Settings of the operator for apps, in the order in which the database returns them. Operators may add other keys. The
 * document does not describe those, because clients in Kotlin cannot read values of any type.
 */
export const AppSettings = z
  .object({
    message: z
      .string()
      .optional()
      .meta({ description: 'Text to show to everybody.', examples: ['The service is back at 10:00 UTC.'] }),
    min_version_android: z
      .string()
      .optional()
      .meta({ description: 'Oldest version of the app for Android that works.', examples: ['2.0.4'] }),
    min_version_ios: z
      .string()
      .optional()
      .meta({ description: 'Oldest version of the app for iOS that works.', examples: ['2.1.0'] }),
  })
  .meta({
    id: 'AppSettings',
    description: 'Settings of the operator. Each may be absent, and there may be others with any JSON.',
  });

export type AppSettings = z.infer<typeof AppSettings>;
