//! Figures to draw.

use super::*;
use crate::system::Draw;
use crate::tree::{Shape, StatementKind};

impl<'a> Resolver<'a, '_> {
    /// Figures.
    pub(super) fn resolve_draws(&mut self) -> Vec<Draw> {
        let mut draws = Vec::new();
        for instance in self.instances.clone() {
            let StatementKind::Draw(shape, list) = &instance.statement.kind else { continue };
            let cx = self.scope_cx(&instance);
            let span = instance.statement.span;
            if let Some(mut draw) = self.settle(|r| r.draw(*shape, list, span, cx)) {
                for point in &mut draw.points {
                    *point = self.normalize_all(point);
                }
                draw.radius = draw.radius.map(|r| self.normalize(r));
                draw.axis = draw.axis.map(|axis| self.normalize_all(&axis));
                draws.push(draw);
            }
        }
        draws
    }

    fn draw(&mut self, shape: Shape, list: &'a [Expr], span: Span, cx: Cx<'_>) -> Eval<Draw> {
        let mut draw = Draw { shape, points: Vec::new(), radius: None, axis: None, span };
        if shape == Shape::Circle {
            if list.len() < 2 || list.len() > 3 {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::DrawShape,
                        span,
                        "a circle needs its center and its radius",
                    )
                    .hint("`draw circle C, r`, in space `draw circle C, r, axis`"),
                ));
            }
            draw.points = self.points(&list[0], cx)?;
            draw.radius = Some(self.eval_scalar(&list[1], cx)?);
            if let Some(axis) = list.get(2) {
                draw.axis = self.points(axis, cx)?.into_iter().next();
            }
            let dimension = draw.points.first().map_or(0, Vec::len);
            if (dimension == 3) != draw.axis.as_ref().is_some_and(|a| a.len() == 3)
                || draw.points.len() != 1
            {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::DrawShape,
                        span,
                        "in space a circle takes its axis third, in the plane it has none",
                    )
                    .hint("`draw circle C, r`, in space `draw circle C, r, axis`"),
                ));
            }
            return Ok(draw);
        }
        for expr in list {
            draw.points.extend(self.points(expr, cx)?);
        }
        let dimension = draw.points.first().map_or(0, Vec::len);
        if draw.points.iter().any(|p| p.len() != dimension) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::DrawShape,
                    span,
                    "points of the plane and of space are mixed here",
                )
                .hint("give all points two components, or all three"),
            ));
        }
        if shape == Shape::Line && draw.points.len() < 2 {
            return Err(self.report(
                Diagnostic::fault(Code::DrawShape, span, "a line needs two points or more")
                    .hint("write `draw line [0, 0], r`; a single point is `draw point r`"),
            ));
        }
        Ok(draw)
    }

    /// A point, or a list of points (the rows of a matrix).
    fn points(&mut self, expr: &'a Expr, cx: Cx<'_>) -> Eval<Vec<Vec<ExprId>>> {
        let value = self.eval(expr, cx)?;
        match &value {
            Value::Vector(data) if (2..=3).contains(&data.len()) => Ok(vec![data.to_vec()]),
            Value::Matrix { columns, data, .. } if (2..=3).contains(columns) => {
                Ok(data.chunks(*columns).map(<[ExprId]>::to_vec).collect())
            }
            other => {
                let found = other.describe();
                Err(self.report(
                    Diagnostic::fault(
                        Code::DrawShape,
                        expr.span,
                        format!("a point has two or three components, and this is {found}"),
                    )
                    .hint("write a point as `[x, y]` or `[x, y, z]`"),
                ))
            }
        }
    }
}
