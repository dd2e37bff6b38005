import { type Problems, invalid } from '../../platform/errors.ts';

export type BadgeUrls = { link_url?: string | undefined; image_url?: string | undefined };

/** Requires an absolute address by HTTP. Placeholders count as any text. @throws Failure 400 */
export const requireBadgeUrls = (urls: BadgeUrls): void => {
  const problems: Problems = {};
  for (const [key, value] of Object.entries(urls)) {
    if (value === undefined) continue;
    const isValid = /^https?:\/\/\S+$/i.test(value) && URL.canParse(value.replaceAll(/%\{[a-z_]+\}/g, 'x'));
    if (!isValid) problems[key] = ['is not a valid URL'];
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
};
