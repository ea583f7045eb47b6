import { z } from 'zod';
import { SoundPreview } from './sound.ts';

export const HomeSection = z
  .object({
    id: z.guid().meta({ examples: ['9d2f6c1e-5b0a-4f0f-8b7e-3d1c2b4a5f60'] }),
    slug: z.string().meta({ examples: ['new-this-week'] }),
    title: z.string().meta({ examples: ['New this week'] }),
    mode: z.enum(['manual', 'rule']).meta({
      id: 'HomeSectionMode',
      description: 'The way in which its sounds are selected: by hand or by a rule.',
    }),
    rule_type: z.enum(['category', 'featured', 'newest']).nullable().meta({ id: 'HomeRuleType' }),
    rule_value: z
      .nullable(z.string())
      .meta({ description: 'Slug of the category of a `category` rule.', examples: ['singing-bowls'] }),
    rule_include_children: z
      .boolean()
      .meta({ description: 'True if a `category` rule includes sub-intentions.', examples: [false] }),
    sounds: z.array(SoundPreview),
  })
  .meta({ id: 'HomeSection' });
