import { array, bool, int, object, string } from '../../platform/http/schema.ts';
import type { Application } from './queries.ts';

export const applicationShape = object({
  id: int,
  application_id: string,
  application_name: string,
  callback_url: string,
  confidential: bool,
  trusted: bool,
  scopes: array(string),
});

/** A new application. The secret is shown only here. */
export const newApplicationShape = object({ ...applicationShape.properties, secret: string });

export const applicationJson = (application: Application) => ({
  id: application.id,
  application_id: application.uid,
  application_name: application.name,
  callback_url: application.redirect_uris.join('\n'),
  confidential: application.confidential,
  trusted: application.trusted,
  scopes: application.scopes,
});
