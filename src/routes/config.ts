import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AppSettings } from '../model/app-settings.ts';

const AppConfig = z
  .object({
    storage_url: z.string().meta({
      description: 'Base URL of covers. Append the path of a cover to it.',
      examples: ['https://example.supabase.co/storage/v1/object/public/'],
    }),
    cover_sizes: z
      .object({
        template: z.string().meta({
          description:
            'URL of a square cover. Replace `{path}` by the path of the cover and `{size}` by one of the sizes.',
          examples: ['https://example.supabase.co/storage/v1/object/public/{path}.{size}.webp'],
        }),
        sizes: z.array(z.int()).meta({ description: 'In pixels.', examples: [[256]] }),
      })
      .meta({ id: 'CoverSizes', description: 'If a size is missing, show the cover itself.' }),
    id_token_providers: z
      .array(z.enum(['google', 'apple']).meta({ id: 'IdTokenProvider' }))
      .meta({ description: 'Providers whose ID tokens are accepted.', examples: [['google', 'apple']] }),
    sign_up: z.boolean().meta({
      description: 'True if users can sign up with an e-mail address and a password.',
      examples: [true],
    }),
    email_confirmation: z.boolean().meta({
      description: 'True if new users must confirm their e-mail address with a mailed code.',
      examples: [true],
    }),
    guests: z.boolean().meta({
      description: 'True if people can listen without an account, as guests.',
      examples: [false],
    }),
    settings: AppSettings,
  })
  .meta({ id: 'AppConfig' });

export const configEndpoints = [
  endpoint('getAppConfig', 'GET /config', {
    summary: 'Settings that an app needs before sign-in',
    description:
      'URL of covers, the ways to sign up and to sign in, and what the operator tells apps. Changes by the operator ' +
      'take effect within a minute.',
    guard: 'none',
    response: z.object({ data: AppConfig }).meta({ id: 'AppConfigResponse' }),
    cache: 'shared',
    handle: async ({ context: { auth, config, appSettings } }) => {
      const [ofAuth, { settings, guests }] = await Promise.all([auth.settings(), appSettings()]);
      const { external, disable_signup, mailer_autoconfirm } = ofAuth;
      const storage = `${config.supabase.publicUrl}/storage/v1`;
      const files = `${storage}/object/public/`;
      return {
        data: {
          storage_url: files,
          // Storage makes any size on request, or the import has made one.
          cover_sizes: config.imageTransformations
            ? {
                template: `${storage}/render/image/public/{path}?width={size}&height={size}&resize=cover`,
                sizes: [128, 256, 512, 1024],
              }
            : { template: `${files}{path}.{size}.webp`, sizes: [256] },
          id_token_providers: config.idTokenProviders.filter((provider) => external[provider] !== false),
          sign_up: external.email && !disable_signup,
          email_confirmation: !mailer_autoconfirm,
          guests: guests && external.anonymous_users === true && !disable_signup,
          settings,
        },
      };
    },
  }),
];
