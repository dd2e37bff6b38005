import {
  type BinaryOperationNode,
  OperatorNode,
  PostgresDialect,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
} from 'kysely';

/** Compiles `in ()` to false for PostgreSQL, which rejects an empty list; SQLite accepts it. */
class EmptyListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand: right } = node;
    const isEmpty = PrimitiveValueListNode.is(right) && right.values.length === 0;
    const word = isEmpty && OperatorNode.is(operator) ? operator.operator : null;
    if (word === 'in') this.append('false');
    else if (word === 'not in') this.append('true');
    else super.visitBinaryOperation(node);
  }
}

export class Dialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new EmptyListCompiler();
  }
}
