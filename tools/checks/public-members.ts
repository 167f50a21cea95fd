import { join, relative } from "node:path";
import ts from "typescript";

/**
 * The exports of declaration files, and their members, that have no docstring: what an editor shows nothing about. `folder` is the
 * package, whose own declarations count.
 */
export function undocumentedMembers(folder: string, entries: readonly string[]): string[] {
  const program = ts.createProgram(
    entries.map((entry) => join(folder, entry)),
    { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true, skipLibCheck: true, types: [] },
  );
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  const found = new Set<string>();

  const isOurs = (declaration: ts.Declaration) => {
    const path = relative(folder, declaration.getSourceFile().fileName);
    return !path.startsWith("..") && !path.startsWith("node_modules");
  };

  function visit(symbol: ts.Symbol, name: string): void {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    const declarations = (symbol.declarations ?? []).filter(isOurs);
    if (declarations.length === 0) return;
    if (ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim() === "") found.add(name);
    for (const declaration of declarations) {
      if (ts.isTypeAliasDeclaration(declaration)) visitNode(declaration.type, name);
      else if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration))
        for (const member of declaration.members) visitMember(member, name);
    }
    // What only the checker can list, such as what a function returns.
    for (const declaration of declarations)
      if (ts.isTypeAliasDeclaration(declaration)) visitProperties(checker.getDeclaredTypeOfSymbol(symbol), name);
  }

  function visitProperties(type: ts.Type, name: string): void {
    for (const part of type.isUnion() ? type.types : [type])
      for (const property of part.getProperties()) visit(property, `${name}.${property.name}`);
  }

  function visitMember(member: ts.Node, name: string): void {
    if (!ts.isPropertySignature(member) && !ts.isMethodSignature(member) && !ts.isPropertyDeclaration(member)) return;
    const symbol = checker.getSymbolAtLocation(member.name);
    if (symbol === undefined) return;
    visit(symbol, `${name}.${symbol.name}`);
    if (member.type !== undefined) visitNode(member.type, `${name}.${symbol.name}`);
  }

  /** Members of literal types, wherever they are in a type. */
  function visitNode(node: ts.Node, name: string): void {
    if (ts.isTypeLiteralNode(node)) for (const member of node.members) visitMember(member, name);
    else if (!ts.isFunctionTypeNode(node)) ts.forEachChild(node, (child) => visitNode(child, name));
  }

  for (const entry of entries) {
    const file = program.getSourceFile(join(folder, entry));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} is not there, or exports nothing`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      visit(symbol, exported.name);
    }
  }
  return [...found].sort();
}
