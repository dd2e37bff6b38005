import { id, object } from '../../../../platform/http/schema.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import type { SettingsListParams, SettingsListRoute } from '../ci/owner_settings_routes.ts';

type RevokeParts<Place extends { path: string }> = {
  findPlace: (route: SettingsListRoute, visit: Visit, params: SettingsListParams) => Promise<Place>;
  /** Revokes the token and returns its name. @throws Failure 404 */
  revoke: (visit: Visit, place: Place, tokenId: number) => Promise<string>;
};

/** Returns the handler of the form that revokes a token of a project or group. */
export const revokePage = <Place extends { path: string }>(
  route: SettingsListRoute,
  { findPlace, revoke }: RevokeParts<Place>,
): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/revoke`,
    audience: 'user',
    params: object({ ...route.params, id: id() }),
    handle: async (visit, params) => {
      const place = await findPlace(route, visit, params);
      const name = await revoke(visit, place, params.id);
      return redirect(place.path, `The token ${name} was revoked.`);
    },
  });
