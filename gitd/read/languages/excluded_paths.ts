/** Paths left out of the statistics of languages: code of others, documentation, examples, and what programs generate. */

const folders =
  'node_modules bower_components vendor vendors third_party third-party thirdparty 3rdparty 3rd-party extern external ' +
  'deps dist cache godeps carthage pods jspm_packages testdata fixtures __snapshots__';

/** Folders that count as documentation or examples in the root. */
const rootFolders = 'docs doc documentation examples example samples sample demos demo man groovydoc javadoc';

const isInside = (words: string): Set<string> => new Set(words.split(' '));
const vendored = isInside(folders);
const documentation = isInside(rootFolders);

const vendoredFiles =
  /(?:[.-]min\.(?:js|css)$|^jquery[\w.-]*\.js$|^bootstrap[\w.-]*\.(?:js|css|scss|less)$|^(?:gradlew|mvnw)(?:\.(?:bat|cmd))?$|^(?:configure|config\.(?:guess|sub)|libtool|ltmain\.sh|aclocal\.m4)$)/i;
const generatedFiles =
  /(?:\.pb\.(?:go|cc|h|dart)$|_pb2(?:_grpc)?\.pyi?$|\.(?:designer|generated|g)\.cs$|\.g\.dart$|_generated\.\w+$)/i;
const documentationFiles =
  /^(?:readme|license|licence|copying|changelog|changes|contributing|install)(?:\.|$)/i;

/** Why a file does not count. Each reason is set on its own. */
export type Reason = 'generated' | 'vendored' | 'documentation';
/** The attributes of a file; null: not set. */
export type Exclusions = { [reason in Reason]?: boolean | null };

/**
 * @param path in the bytes that git writes, from the root
 * @param attributes values from `.gitattributes`; each overrides what the path suggests
 */
export const isExcluded = (path: string, attributes: Exclusions): boolean => {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  const isVendored = (): boolean =>
    vendoredFiles.test(name) ||
    parts.some((part) => part.startsWith('.') || vendored.has(part.toLowerCase()));
  const isDocumentation = (): boolean =>
    documentation.has((parts[0] ?? '').toLowerCase()) || documentationFiles.test(name);
  return (
    (attributes.generated ?? generatedFiles.test(name)) ||
    (attributes.vendored ?? isVendored()) ||
    (attributes.documentation ?? isDocumentation())
  );
};
