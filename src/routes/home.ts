import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { SoundPreview } from '../sound.ts';

const HomeSection = z.object({
  id: z.guid(),
  slug: z.string(),
  title: z.string(),
  mode: z.enum(['manual', 'rule']),
  rule_type: z.enum(['category', 'featured', 'newest']).nullable(),
  rule_value: z.string().nullable(),
  rule_include_children: z.boolean(),
  sounds: z.array(SoundPreview),
});

export const homeEndpoints = [
  endpoint({
    method: 'get',
    path: '/home',
    operation: 'getHome',
    summary: 'Homepage sections',
    guard: 'bearer',
    response: z.object({ sections: z.array(HomeSection) }),
    errors: ['unauthorized', 'rate_limited'],
    cache: 'revalidate',
    shared: true,
    handle: async ({ context, caller, deadline }) => ({
      sections: (await context.supabase.callFunction(caller, 'list_home_sections', deadline)) as z.input<
        typeof HomeSection
      >[],
    }),
  }),
];
