//! Inputs that are held at a number: in the page they are parameters, so that sliders move them.

use crate::columns::{Column, columns};
use crate::live::Request;
use dalembert_derive::picture::Picture;
use dalembert_export::scene::Scene;
use dalembert_expr::{ExprId, Exprs, SymbolKind};
use dalembert_model::system::{Input, Model, Parameter};
use dalembert_simulate::Setting;

/// A model with its inputs as parameters, and what its program is made of.
pub(crate) struct Dials {
    model: Model,
    setting: Setting,
    picture: Picture,
    columns: Vec<Column>,
    scene: Scene,
}

/// The value of an input that is a number.
pub(crate) fn held(exprs: &Exprs, input: &Input) -> Option<ExprId> {
    input.value.filter(|value| exprs.symbols_of(&[*value]).is_empty())
}

impl Dials {
    /// `None` where no input is a number, and where columns or shapes would not be those of the run.
    pub fn new(of: &Request) -> Option<Dials> {
        let model = turned(of.model)?;
        let setting = Setting::new(&model).ok()?;
        let (symbols, values) = of.setting.constants();
        let values: Vec<_> = symbols.into_iter().zip(values).collect();
        let setting = setting.with_all(&values).ok()?;
        let picture = Picture::new(&model.exprs, &model.system).ok()?;
        let scene = Scene::new(&model);
        let columns = columns(&model, Some(&picture), &scene);
        let same_columns = columns.iter().map(|c| &c.name).eq(of.columns.iter().map(|c| &c.name));
        let same_scene =
            scene.shapes == of.scene.shapes && scene.numbers.len() == of.scene.numbers.len();
        (same_columns && same_scene).then_some(Dials { model, setting, picture, columns, scene })
    }

    /// What a program of it is made for.
    pub fn request<'a>(&'a self, of: &Request<'a>) -> Request<'a> {
        let Dials { model, setting, picture, columns, scene } = self;
        Request { model, setting, picture: Some(picture), columns, scene, ..*of }
    }
}

/// The model with inputs that are numbers as parameters behind its own; `None` where there are none,
/// and where the model is not what its inputs made it, as after a completion.
fn turned(model: &Model) -> Option<Model> {
    model.system.open.as_ref()?;
    let Model { exprs, mut system, sources } = model.opened();
    let mut dials = Vec::new();
    for input in &mut system.inputs {
        let Some(value) = held(&exprs, input) else { continue };
        let symbol = exprs.symbol(&input.name, SymbolKind::Constant);
        let name = input.name.clone();
        dials.push(Parameter { name, symbol, value: Some(value), span: input.span });
        input.value = Some(exprs.of_symbol(symbol));
    }
    if dials.is_empty() {
        return None;
    }
    system.parameters.extend(dials);
    let system = system.closed(&exprs);
    let is_same = system.constraints.len() == model.system.constraints.len()
        && system.determined.len() == model.system.determined.len();
    is_same.then_some(Model { exprs, system, sources })
}
