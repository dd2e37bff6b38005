/** Reasons why the lines of a file are collapsed. Each comes with a link that shows them. */
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import type { Folding } from './gitattributes.ts';

/** A file of a diff, with what `.gitattributes` says of it. */
export type ShownDiff = FileDiff & { folding?: Folding };

/** Names of files that programs write. */
const generatedNames =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|composer\.lock|Cargo\.lock|Gemfile\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|mix\.lock|pubspec\.lock|Podfile\.lock|gradle\.lockfile)$/;

const generatedEndings =
  /\.(?:min\.(?:js|css|mjs)|(?:js|css|mjs)\.map|pb\.go|pb\.(?:cc|h)|_pb2\.py|g\.dart|designer\.cs|snap)$|_pb2(?:_grpc)?\.py$/i;

const generatedFolders = /(?:^|\/)(?:node_modules|__snapshots__|__generated__)\//;

/** Checks by its path whether a program wrote a file. */
const isGeneratedFile = (path: string): boolean =>
  generatedNames.test(path) || generatedEndings.test(path) || generatedFolders.test(path);

/** Maximum changed lines of one file that are shown initially. */
const maxLines = 1_500;

/** Returns why a file is collapsed; null if it is shown. */
export const collapseReason = (
  { new_path, additions, deletions, too_large, folding }: ShownDiff,
  { isAlone }: { isAlone: boolean },
): string | null => {
  if (too_large) return 'The diff is too large to be shown.';
  if (isAlone) return null;
  if (folding === 'suppressed') return 'Collapsed by an entry of .gitattributes.';
  const isGenerated = folding === 'generated' || (folding === undefined && isGeneratedFile(new_path));
  if (isGenerated) return 'Collapsed: the file is generated.';
  return additions + deletions > maxLines ? 'Collapsed: the file has many changed lines.' : null;
};
