import { z } from 'zod';

/**
 * Settings of the operator for apps, in the order in which the database returns them. Operators add other keys, but
 * Kotlin clients cannot read values of any type, so that the document lists only the agreed ones.
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
