/** Refs that clients may not change or read. */

/** Internal refs: no push may change them. */
export const internalRefs = [
  'refs/merge-requests',
  'refs/keep-around',
  'refs/pipelines',
  'refs/environments',
  'refs/tmp',
  'refs/replace',
];

/** Refs that no fetch may read. */
export const secretRefs = ['refs/keep-around', 'refs/tmp'];

/** Refs hidden from one client in addition to the fixed hidden refs. */
export type HiddenRefs = { requests: boolean; pipelines: boolean };

/** Hides pipeline refs unless the caller explicitly allows them. */
export const chooseHiddenRefs = (params: { hide_requests?: boolean; pipelines?: boolean }): HiddenRefs => ({
  requests: params.hide_requests === true,
  pipelines: params.pipelines !== true,
});

/** Formats hidden refs as part of a cache key. */
export const hiddenRefsKey = ({ requests, pipelines }: HiddenRefs): string => `${requests} ${pipelines}`;

/** The git configuration that hides these refs. */
export const hideRefsConfig = ({
  requests,
  pipelines,
}: HiddenRefs): readonly (readonly [string, string])[] => [
  ...(requests ? [['uploadpack.hideRefs', 'refs/merge-requests'] as const] : []),
  ...(pipelines ? [['uploadpack.hideRefs', 'refs/pipelines'] as const] : []),
];
