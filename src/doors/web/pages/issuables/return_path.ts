/** Redirect target of a form that is on several pages. */
import { optional, text } from '../../../../platform/http/schema.ts';
import type { Visit } from '../../page.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';

const maxLength = 8_192;

/** The path of the page that the form is on; absent: the page of the record. */
export const returnParam = { return_to: optional(text({ maxLength })) };

/** Returns the path that the form contains, if it is a path of this service. */
export const returnPath = ({ call }: Visit, requested: string | undefined, usual: string): string =>
  requested === undefined || requested === '' ? usual : safeRedirectPath(requested, call.baseUrl);
